import type { Socket } from 'node:net'
import t from 'tap'
import { startRawBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'

t.test(
  'a check that outlasts its event stream leaves the next request of the connection alone',
  async (t) => {
    const askedFor = new Map<string, Socket>()
    const url = await startRawBackend(t, (socket) => {
      socket.on('data', (data) => {
        const path = data.toString('latin1').split(' ')[1] ?? ''
        askedFor.set(path, socket)
        if (path === '/probe') socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      })
    })
    const routes = ['events', 'other', 'probe'].map((name) => ({
      name,
      path: `/${name}`,
      upstream: 'backend',
      auth: 'any',
      browser: { cookie: true },
    }))
    const config = { accessCookie: { enabled: true }, routes }
    const gateway = await startGateway(t, { backend: url, config })
    const revoked = await gateway.createAccount()
    const other = await gateway.createAccount()
    const client = await connectRaw(t, gateway.url)
    const get = (path: string, key: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nSecretKey: ${key}\r\n\r\n`
    client.send(get('/events', revoked.secretKey) + get('/other', other.secretKey))
    const stream = await until('the stream is asked for', () => askedFor.get('/events'))
    await gateway.operate(({ accounts }) => accounts.update(revoked.account.id, { isDisabled: true }))
    await until('the change is heard', async () => {
      const { status } = await ask(t, gateway.url, 'GET /probe', [`SecretKey: ${revoked.secretKey}`])
      return status === 403 || undefined
    })
    // All of it at once: the stream is over before anything can be looked up.
    stream.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata: 1\n\n')
    t.match(await client.response(), { status: 200, body: 'data: 1\n\n' })
    const next = await until('the next is asked for', () => askedFor.get('/other'))
    next.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother')
    t.match(await client.response(), { status: 200, body: 'other' })
  },
)
