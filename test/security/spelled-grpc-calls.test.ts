import { once } from 'node:events'
import {
  type ClientHttp2Session,
  createServer,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { connectHttp2 } from '../http/h2/ask.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'

/**
 * A server that takes everything for a call, and begins to answer below `/answered`: as one of gRPC, or with the type
 * that the path ends in.
 */
async function startLenientServer(t: Test) {
  const seen = new Set<string>()
  const server = createServer().listen(0, '127.0.0.1')
  server.on('stream', (stream: ServerHttp2Stream, { ':path': path = '' }) => {
    stream.on('error', () => {}).resume()
    seen.add(path)
    if (!path.startsWith('/answered')) return
    stream.respond({
      ':status': 200,
      'content-type': path.endsWith('/plain') ? 'text/plain' : 'application/grpc',
    })
    stream.write('a message')
  })
  await once(server, 'listening')
  const sessions = new Set<{ destroy(): void }>()
  server.on('session', (session) => sessions.add(session))
  t.teardown(() => {
    server.close()
    for (const session of sessions) session.destroy()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

/** What has become of a request of HTTP/2. */
class Opened {
  isClosed = false
  fields: Readonly<Record<string, unknown>> = {}

  constructor(session: ClientHttp2Session, fields: OutgoingHttpHeaders, hasBody: boolean) {
    const stream = session.request(fields, { endStream: !hasBody })
    if (hasBody) stream.end('a message')
    stream.on('error', () => {}).resume()
    stream.on('response', (received) => {
      this.fields = received
    })
    stream.on('close', () => {
      this.isClosed = true
    })
  }
}

async function start(t: Test) {
  const server = await startLenientServer(t)
  const gateway = await startGateway(t, {
    config: {
      upstreams: { shop: { targets: [{ url: server.url }], protocol: 'http2' } },
      routes: [{ name: 'shop', path: '/', upstream: 'shop', auth: 'any' }],
    },
  })
  const made = await gateway.createAccount()
  const session = await connectHttp2(t, gateway.url)
  const open = async (path: string, fields: OutgoingHttpHeaders, hasBody = true) => {
    const sent = { ':method': 'POST', ':path': path, secretkey: made.secretKey, te: 'trailers', ...fields }
    const opened = new Opened(session, sent, hasBody)
    await until(`${path} has arrived`, () => server.seen.has(path))
    return opened
  }
  return { gateway, server, made, open }
}

async function revoke(gateway: TestGateway, accountId: string): Promise<void> {
  await gateway.operate(({ accounts }) => accounts.update(accountId, { isDisabled: true }))
}

t.test('a call that only a lenient server takes for one of gRPC ends with its credential', async (t) => {
  const { gateway, made, open } = await start(t)
  const asRefusal = await Promise.all([
    open('/upper', { 'content-type': 'APPLICATION/GRPC+proto' }),
    open('/bodiless', { 'content-type': 'application/grpc' }, false),
  ])
  const asReset = await Promise.all([
    open('/longer', { 'content-type': 'application/grpcfoo' }),
    open('/put', { ':method': 'PUT', 'content-type': 'application/grpc' }),
    open('/get', { ':method': 'GET', 'content-type': 'application/grpc' }, false),
    open('/web', { 'content-type': 'application/grpc-web+proto' }),
    open('/answered/text', { 'content-type': 'text/plain' }),
    open('/answered/none', {}),
  ])
  const kept = await open('/answered/plain', { 'content-type': 'text/plain' })
  await until('both are answered', () => kept.fields[':status'] && asReset.at(-1)?.fields[':status'])
  await revoke(gateway, made.account.id)
  await until('all have ended', () => [...asRefusal, ...asReset].every(({ isClosed }) => isClosed))
  for (const { fields } of asRefusal) t.match(fields, { ':status': 200, 'grpc-status': '16' })
  t.equal(kept.isClosed, false, 'what is no call goes on')
})

t.test('a call of a client of HTTP/1.1 ends with its credential, answered or not', async (t) => {
  const { gateway, server, made } = await start(t)
  const fields = [
    'Host: x',
    `SecretKey: ${made.secretKey}`,
    'Content-Type: application/grpc',
    'Content-Length: 1',
  ]
  const open = async (path: string) => {
    const client = await connectRaw(t, gateway.url)
    client.send(`POST ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\nx`)
    await until(`${path} has arrived`, () => server.seen.has(path))
    return client
  }
  const clients = [await open('/answered/1.1'), await open('/unanswered/1.1')]
  await clients[0]?.readUntil('a message')
  await revoke(gateway, made.account.id)
  await until('both connections have ended', () => clients.every(({ socket }) => socket.destroyed))
})
