import type { Socket } from 'node:net'
import t from 'tap'
import { startRawBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'

t.test('a check that outlasts its event stream leaves the next request of the connection alone', async (t) => {
  const heads: string[] = []
  const sockets: Socket[] = []
  const url = await startRawBackend(t, (socket) => {
    socket.on('data', (data) => {
      sockets.push(socket)
      heads.push(data.toString('latin1').split('\r\n', 1)[0] ?? '')
    })
  })
  const route = { upstream: 'backend', auth: 'any' }
  const gateway = await startGateway(t, {
    backend: url,
    config: {
      accessCookie: { enabled: true },
      routes: [
        { name: 'events', path: '/events', browser: { cookie: true }, ...route },
        { name: 'other', path: '/other', ...route },
      ],
    },
  })
  const [revoked, other] = [await gateway.createAccount(), await gateway.createAccount()]
  const client = await connectRaw(t, gateway.url)
  const get = (path: string, key: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nSecretKey: ${key}\r\n\r\n`
  client.send(get('/events', revoked.secretKey) + get('/other', other.secretKey))
  await until('the stream is asked for', () => heads.length === 1)
  await gateway.operate(({ accounts }) => accounts.update(revoked.account.id, { isDisabled: true }))
  const probe = await connectRaw(t, gateway.url)
  await until('the change is heard', async () => {
    probe.send(get('/events', revoked.secretKey))
    return (await probe.response()).status === 401
  })
  // All of it at once: the stream is over before anything can be looked up.
  sockets[0]?.write(
    'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata: 1\n\n',
  )
  t.match(await client.response(), { status: 200, body: 'data: 1\n\n' })
  await until('the next is asked for', () => heads.includes('GET /other HTTP/1.1'))
  sockets.at(-1)?.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother')
  t.match(await client.response(), { status: 200, body: 'other' })
})
