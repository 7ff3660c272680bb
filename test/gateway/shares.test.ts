import t, { type Test } from 'tap'
import { connectHttp2 } from '../http/h2/ask.ts'
import { startServer } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'

type Options = Readonly<Record<string, unknown>>

/** A backend with responses that last, and a gateway at which one account asks for them. */
async function start(t: Test, upstream: Options, route: Options = {}) {
  let open = 0
  const backend = await startServer(t, (request, response) => {
    if (request.url === '/large') response.end(Buffer.alloc(200_000))
    else if (request.url === '/x') response.end('ok')
    else {
      open++
      response.on('close', () => open--)
      const type = request.url === '/events' ? 'text/event-stream; charset=utf-8' : 'text/plain'
      response.writeHead(200, { 'Content-Type': type })
      response.write('data: 1\n\n')
    }
  })
  const gateway = await startGateway(t, {
    config: {
      trustedProxies: ['127.0.0.1'],
      upstreams: { backend: { targets: [{ url: backend }], timeouts: { connect: '200ms' }, ...upstream } },
      routes: [{ name: 'all', path: '/', upstream: 'backend', auth: 'any', ...route }],
    },
  })
  const { secretKey } = await gateway.createAccount()
  const key = `SecretKey: ${secretKey}`
  /** Responses that last, from as many clients. */
  async function hold(path: string, count: number): Promise<void> {
    const before = open
    const clients = await Promise.all(Array.from({ length: count }, () => connectRaw(t, gateway.url)))
    for (const [index, client] of clients.entries())
      client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n${key}\r\nX-Forwarded-For: 203.0.113.${index}\r\n\r\n`)
    await Promise.all(clients.map((client) => client.readUntil('data: 1')))
    await until('all are open', () => open === before + count || undefined)
  }
  const next = (address = '198.51.100.1') =>
    ask(t, gateway.url, 'GET /x', [key, `X-Forwarded-For: ${address}`])
  const reasons = () =>
    gateway.logLines.flatMap((line) => (JSON.parse(line) as { reason?: string }).reason ?? [])
  return { gateway, key, hold, next, reasons }
}

t.test('126 streams of events of one account leave all connections to its other requests', async (t) => {
  const { hold, next } = await start(t, {})
  await hold('/events', 126)
  t.equal((await next()).status, 200)
})

t.test('streams of events count apart up to connections, and beyond that like other requests', async (t) => {
  const { hold, next, reasons } = await start(t, { connections: 4 })
  await hold('/events', 4)
  t.equal((await next()).status, 200, 'at the limit')
  await hold('/events', 3)
  t.equal((await next()).status, 200)
  await hold('/events', 1)
  const refused = await next()
  t.strictSame([refused.status, refused.json().code], [503, 'upstream-unavailable'])
  t.match(reasons().at(-1), /all 4 connections were in use for 200 ms/)
})

t.test('so do other responses without a length on a route that allows minutes of silence', async (t) => {
  for (const [idle, isApart] of [
    ['2m', true],
    ['119s', false],
  ] as const) {
    const { hold, next } = await start(t, { connections: 1 }, { timeouts: { idle } })
    await hold('/long', 1)
    t.equal((await next()).status, isApart ? 200 : 503, idle)
  }
})

t.test('the connection of a stream of events that has ended is used again', async (t) => {
  const connections = new Set<unknown>()
  const backend = await startServer(t, (request, response) => {
    connections.add(request.socket)
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write('data: 1\n\n')
    setImmediate(() => response.end())
  })
  const gateway = await startGateway(t, { backend })
  for (let turn = 0; turn < 3; turn++) t.equal((await ask(t, gateway.url, 'GET /public/x')).status, 200)
  t.equal(connections.size, 1)
})

t.test('a 503 and the log say whose share of the connections is exhausted', async (t) => {
  const { hold, next, reasons } = await start(t, { connections: 18 })
  await hold('/long', 16)
  const ofAccount = await next()
  t.equal(ofAccount.status, 503)
  t.match(ofAccount.json().detail, /^Your account has reached its limit of requests in progress/)
  t.match(reasons().at(-1), /its account had its full share in use, 16 of 18 connections, for 200 ms/)
})

t.test('one HTTP/2 connection that reads nothing takes an upstream from nobody', async (t) => {
  const { gateway, key, next } = await start(t, {}, { auth: 'none' })
  const session = await connectHttp2(t, gateway.url, undefined, { initialWindowSize: 0 })
  let begun = 0
  for (let index = 0; index < 128; index++) {
    const stream = session.request({ ':path': '/large' })
    stream.on('response', () => begun++).on('error', () => {})
  }
  await until('all that may be open have begun', () => begun === 100 || undefined)
  for (let turn = 0; turn < 5; turn++) {
    t.equal((await ask(t, gateway.url, 'GET /x', [key])).status, 200, 'of the same network')
    t.equal((await next()).status, 200, 'of another one')
  }
})
