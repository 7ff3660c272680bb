import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { answerOf, startHeadBackend } from '../http/outgoing/backends.ts'
import { startBackend, startServer } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { makeCertificate } from '../setup/certificates.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { askForReload, reloadWith, taken } from './support/reload.ts'
import { certificateFiles, connectTls } from './support/tls.ts'
import { openWebSocket, record, startWebSocketBackend } from './support/web-socket.ts'

const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const upstream = (url: string, more = {}) => ({ upstreams: { backend: { targets: [{ url }], ...more } } })

t.test('a request in flight during a reload finishes on its old config', async (t) => {
  const held: ServerResponse[] = []
  const slow = await startServer(t, (_request, response) => void held.push(response))
  const other = await startBackend(t)
  const gateway = await startGateway(t, { backend: slow })
  const client = await connectRaw(t, gateway.url)
  client.send(head('/public/held'))
  await until('the backend has it', () => held[0])
  const routes = [{ name: 'new', path: '/new', upstream: 'backend', auth: 'none' }]
  t.match(await reloadWith(gateway, { ...upstream(other.url), routes }), taken)
  held[0]?.end('late')
  t.match(await client.response(), { status: 200, body: 'late' })
  t.match(await client.send(head('/new')).response(), { status: 200, body: 'ok' }, 'on the same connection')
  t.equal(other.seen.length, 1)
})

t.test('a reload keeps connections of unchanged upstreams, and closes those of changed ones', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => void socket.write(answerOf(path)))
  const gateway = await startGateway(t, { backend: backend.url })
  const client = await connectRaw(t, gateway.url)
  const get = async () => t.equal((await client.send(head('/public')).response()).status, 200)
  await get()
  t.match(await reloadWith(gateway, { identity: { headers: { id: 'X-Caller' } } }), taken)
  await get()
  t.equal(backend.sockets.length, 1)
  t.match(await reloadWith(gateway, upstream(backend.url, { connections: 7 })), taken)
  await get()
  t.equal(backend.sockets.length, 2)
  await until('the old one is closed', () => backend.sockets[0]?.readableEnded || undefined)
})

t.test('a request queued for a connection of a changed upstream still gets one', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const gateway = await startGateway(t, { config: upstream(backend.url, { connections: 1 }) })
  const clients = await Promise.all([0, 1, 2].map(() => connectRaw(t, gateway.url)))
  for (const [index, client] of clients.entries()) client.send(head(`/public/${index}`))
  await until('one of them is served', () => backend.heads[0])
  t.match(await reloadWith(gateway, upstream(backend.url, { connections: 2 })), taken)
  for (let served = 0; served < 3; served++) {
    const asked = await until('the next is asked', () => backend.heads[served])
    asked.socket.write(answerOf('ok'))
  }
  for (const client of clients) t.match(await client.response(), { status: 200, body: 'ok' })
  await until('all are closed', () => backend.sockets.every((socket) => socket.readableEnded) || undefined)
})

t.test('a WebSocket survives a reload, even one that removes its route', async (t) => {
  const backend = await startWebSocketBackend(t)
  const route = { name: 'ws', path: '/ws', upstream: 'backend', auth: 'secretKey', websocket: true }
  const gateway = await startGateway(t, { backend: backend.url, config: { routes: [route] } })
  const user = await gateway.createAccount()
  const headers = { SecretKey: user.secretKey }
  const socket = await openWebSocket(t, `${gateway.url}/ws`, { headers })
  const received = record(socket)
  const routes = [{ ...route, path: '/other' }]
  t.match(await reloadWith(gateway, { routes, tokens: { accessLifetime: '1m' } }), taken)
  await t.rejects(openWebSocket(t, `${gateway.url}/ws`, { headers }), /404/)
  socket.send('still there')
  await until('it comes back', () => received.messages[0])
  await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(user.account.id, 0))
  await until('it is closed', () => received.closes[0])
  t.equal(received.closes[0]?.code, 4001, 'a revocation finds it all the same')
})

t.test('a reload that drops a signing key closes the WebSockets of its tokens', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-keys-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const keys = ['old', 'next'].map((kid) => {
    const file = join(dir, kid)
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    writeFileSync(file, privateKey.export({ format: 'pem', type: 'pkcs8' }))
    return { kid, private: { file }, use: 'sign' }
  })
  const backend = await startWebSocketBackend(t)
  const route = { name: 'ws', path: '/ws', upstream: 'backend', auth: 'bearer', websocket: true }
  const config = { routes: [route], tokens: { keys: keys.slice(0, 1) } }
  const gateway = await startGateway(t, { backend: backend.url, config })
  const { JwtToken } = await gateway.tokens(await gateway.createAccount())
  const headers = { Authorization: `Bearer ${JwtToken}` }
  const received = record(await openWebSocket(t, `${gateway.url}/ws`, { headers }))
  t.match(await reloadWith(gateway, { tokens: { keys: keys.slice(1) } }), taken)
  await until('it is closed', () => received.closes[0])
  t.equal(received.closes[0]?.code, 4001)
})

t.test('a reloaded certificate is served to new connections, and open ones stay', async (t) => {
  const names = 'DNS:localhost,IP:127.0.0.1'
  const [old, next] = [makeCertificate(t, names), makeCertificate(t, names)]
  const files = certificateFiles(t, old)
  const config = { listen: { port: 0, tls: files.tls } }
  const gateway = await startBoth(t, { config })
  const first = await connectTls(t, gateway.url, { ca: old.cert })
  files.write({ cert: next.cert, key: old.key })
  const { code, problems } = await askForReload(gateway.opsUrl)
  t.equal(code, 422)
  t.match(problems, [/listen\.tls\.key: is not the key of the certificate/])
  await connectTls(t, gateway.url, { ca: old.cert })
  files.write(next)
  t.match(await askForReload(gateway.opsUrl), taken)
  t.equal((await first.send(head('/public')).response()).status, 200)
  const second = await connectTls(t, gateway.url, { ca: next.cert })
  t.equal((await second.send(head('/public')).response()).status, 200)
  await t.rejects(connectTls(t, gateway.url, { ca: old.cert }), /self-signed|verif/)
  const without = await reloadWith(gateway, { listen: { port: 0 } })
  t.match(without, { code: 422, problems: [/listen\.tls: cannot be changed/] })
})
