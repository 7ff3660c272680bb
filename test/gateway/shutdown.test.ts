import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import t, { type Test } from 'tap'
import { drainServer } from '#gateway/server/drain.ts'
import { startCollector } from '../ops/tracing/collector.ts'
import { startServer } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { portOf, until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { untilInFlight } from './forward/proxies.ts'
import { accessTokenPath, ask } from './support/ask.ts'
import { ownPath, startOwnServer } from './support/own-server.ts'
import { assertProblem } from './support/problem.ts'
import { askForReload, rewrite } from './support/reload.ts'
import { untilClosed } from './support/until-closed.ts'
import { acceptOf, openWebSocket, record, startWebSocketBackend } from './support/web-socket.ts'

const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/** A gateway before a backend whose answers wait until they are let go. */
async function start(t: Test, shutdown: object) {
  const held: ServerResponse[] = []
  const backend = await startServer(t, (request, response) => {
    if (request.url?.includes('now')) response.end('now')
    else held.push(response)
  })
  const gateway = await startGateway(t, { backend, config: { shutdown } })
  const readiness = async () => (await fetch(`${gateway.opsUrl}/readyz`)).status
  return { held, gateway, readiness }
}

t.test('a shutdown lets requests in flight finish, and ends after the last', async (t) => {
  const { held, gateway, readiness } = await start(t, { drain: '10s' })
  const counted = await connectRaw(t, gateway.url)
  counted.send(head('/public/held'))
  const streamed = await connectRaw(t, gateway.url)
  streamed.send('POST /public/held HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc')
  await until('the backend has both', () => held.length === 2)
  t.equal(await readiness(), 200)
  const down = gateway.shutDown()
  t.equal(await readiness(), 503, 'from the moment it starts')
  t.equal((await fetch(`${gateway.opsUrl}/livez`)).status, 200)
  await untilClosed(t, gateway.url)
  streamed.send('def')
  for (const response of held) response.end('late')
  for (const client of [counted, streamed]) {
    t.match(await client.response(), { status: 200, body: 'late' })
    client.close()
  }
  t.equal(await down, true, 'nothing was aborted')
  await t.rejects(fetch(`${gateway.opsUrl}/livez`))
})

t.test('/readyz answers 503 to the end of a shutdown, also while traces are flushed', async (t) => {
  const collector = await startCollector(t)
  collector.status = undefined
  const tracing = { otlp: { endpoint: collector.url, sampleRatio: 1 } }
  const gateway = await startBoth(t, { config: { tracing } })
  t.equal((await ask(t, gateway.url, 'GET /public/x')).status, 200)
  let isOver = false
  const down = gateway.shutDown().finally(() => {
    isOver = true
  })
  await until('what is left of traces is sent', () => collector.requests.length || undefined)
  t.equal((await fetch(`${gateway.opsUrl}/readyz`)).status, 503)
  t.equal((await fetch(`${gateway.opsUrl}/metrics`)).status, 200)
  t.notOk(isOver)
  await down
  await t.rejects(fetch(`${gateway.opsUrl}/readyz`))
})

t.test('a shutdown closes a connection after the answer in flight', async (t) => {
  const { held, gateway } = await start(t, { drain: '3s' })
  const client = await connectRaw(t, gateway.url)
  client.send(head('/public/held'))
  await until('the backend has it', () => held.length === 1)
  const started = performance.now()
  const down = gateway.shutDown()
  await untilClosed(t, gateway.url)
  held[0]?.end('late')
  t.equal((await client.response()).headers.connection, 'close')
  await down
  t.ok(performance.now() - started < 2_000, 'it did not wait for a client that has nothing more to say')
})

t.test('an idle connection gets one more answer in a shutdown, with Connection: close', async (t) => {
  const { gateway } = await start(t, { drain: '10s' })
  const targets = ['GET /public/now', `GET ${accessTokenPath}`, 'GET /nowhere', 'GET /any/now', 'GET /a//b']
  const clients = await Promise.all(
    targets.map(async (line) => {
      const client = await connectRaw(t, gateway.url)
      client.send(head('/public/now'))
      const { headers } = await client.response()
      t.not(headers.connection, 'close')
      return { client, line }
    }),
  )
  const fresh = await connectRaw(t, gateway.url)
  const down = gateway.shutDown()
  await untilClosed(t, gateway.url)
  for (const { client, line } of [...clients, { client: fresh, line: 'GET /public/now' }]) {
    client.send(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`)
    const response = await client.response()
    t.not(response.status, 503, line)
    t.equal(response.headers.connection, 'close', line)
    await client.ended()
  }
  t.equal(await down, true)
})

t.test('all but /readyz works as before during shutdown.delay', async (t) => {
  const { gateway, readiness } = await start(t, { delay: '300ms', drain: '10s' })
  const down = gateway.shutDown()
  t.equal(await readiness(), 503)
  const response = await ask(t, gateway.url, 'GET /public/now')
  t.equal(response.status, 200)
  t.not(response.headers.connection, 'close')
  t.equal(await down, true)
})

t.test('requests unanswered at the end of the drain are 503, and the shutdown not clean', async (t) => {
  const { held, gateway } = await start(t, { drain: '100ms' })
  const client = await connectRaw(t, gateway.url)
  client.send(head('/public/held'))
  const half = await connectRaw(t, gateway.url)
  half.send(head('/public/half'))
  await until('the backend has both', () => held.length === 2)
  held
    .find((response) => response.req.url === '/public/half')
    ?.writeHead(200, { 'Content-Length': 9 })
    .write('half')
  await half.readUntil('half')
  const idle = await connectRaw(t, gateway.url)
  const down = gateway.shutDown()
  const response = await client.response()
  assertProblem(t, response, { status: 503, code: 'shutting-down' })
  t.equal(response.headers.connection, 'close')
  for (const each of [client, half, idle]) await each.ended()
  t.equal(await down, false)
})

t.test('own requests unanswered at the end of the drain are 503, too', async (t) => {
  const { gateway } = await start(t, { drain: '100ms' })
  const lines = ['Host: x', 'Content-Type: application/json', 'Content-Length: 50']
  const client = await connectRaw(t, gateway.url)
  client.send(`POST ${accessTokenPath} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n{"Se`)
  await untilInFlight(gateway, 1)
  const down = gateway.shutDown()
  const response = await client.response()
  assertProblem(t, response, { status: 503, code: 'shutting-down' })
  t.equal(response.headers.connection, 'close')
  await client.ended()
  t.equal(await down, false)
  const line = gateway.logLines.find((text) => text.includes(accessTokenPath))
  t.match(JSON.parse(line ?? '{}'), { status: 503, code: 'shutting-down', isComplete: true })
})

t.test('an own answer already begun at the end of the drain is cut off', async (t) => {
  const responses: ServerResponse[] = []
  const server = await startOwnServer(t, (_request, response) => {
    responses.push(response)
    response.write('begun')
  })
  const client = await connectRaw(t, server.url)
  client.send(head(ownPath))
  await client.readUntil('begun\r\n')
  t.equal(await drainServer(server, 100), false)
  await client.ended()
  t.equal(client.rest().length, 0, 'nobody takes it for a whole one')
  await until('it is over', () => server.ended[0])
  t.match(server.ended, [[{ outcome: { status: 200, code: 'shutting-down' } }, false]])
})

t.test('a late result for a request already answered 503 is discarded', async (t) => {
  const responses: ServerResponse[] = []
  const server = await startOwnServer(t, (_request, response) => void responses.push(response))
  const client = await connectRaw(t, server.url)
  client.send(head(ownPath))
  await until('it has arrived', () => responses[0])
  const down = drainServer(server, 100)
  assertProblem(t, await client.response(), { status: 503, code: 'shutting-down' })
  responses[0]?.end('late')
  await client.ended()
  t.equal(client.rest().length, 0)
  t.equal(await down, false)
})

t.test('a shutdown closes WebSockets with 1001 on both sides', async (t) => {
  const backend = await startWebSocketBackend(t)
  const routes = [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'none', websocket: true }]
  const gateway = await startGateway(t, {
    backend: backend.url,
    config: { routes, shutdown: { drain: '10s' } },
  })
  const mine = record(await openWebSocket(t, `${gateway.url}/ws`))
  const theirs = record(backend.sockets[0])
  t.equal(await gateway.shutDown(), true)
  await until('both receive a Close', () => mine.closes.length + theirs.closes.length === 2)
  t.equal(mine.closes[0]?.code, 1001)
  t.equal(theirs.closes[0]?.code, 1001)
})

t.test(
  'a WebSocket that the backend accepts during a shutdown is closed with 1001, and holds nothing up',
  async (t) => {
    const asked: (readonly [IncomingMessage, Duplex])[] = []
    const backend = createServer().on('upgrade', (request, socket) => asked.push([request, socket]))
    backend.listen(0, '127.0.0.1')
    await once(backend, 'listening')
    t.teardown(() => {
      for (const [, socket] of asked) socket.destroy()
      backend.close()
    })
    const routes = [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'none', websocket: true }]
    const gateway = await startGateway(t, {
      backend: `http://127.0.0.1:${portOf(backend)}`,
      config: { routes, shutdown: { drain: '20s' } },
    })
    const opening = openWebSocket(t, `${gateway.url}/ws`).then(record)
    const [request, socket] = await until('the backend is asked', () => asked[0])
    const down = gateway.shutDown()
    await untilClosed(t, gateway.url)
    const accept = acceptOf(request.headers['sec-websocket-key'])
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    const [frame] = (await once(socket, 'data')) as [Buffer]
    t.equal(frame[0], 0x88, 'the backend receives a Close')
    const mine = await opening
    await until('so does the client', () => mine.closes[0])
    t.equal(mine.closes[0]?.code, 1001)
    const since = performance.now()
    t.equal(await down, true)
    t.ok(performance.now() - since < 10_000, 'the drain does not wait for it')
  },
)

t.test('a shutdown that begins while a reload is being built ends the reload', async (t) => {
  const routes = (path: string) => [{ name: 'held', path, upstream: 'backend', auth: 'none' }]
  const held: ServerResponse[] = []
  const backend = await startServer(t, (_request, response) => void held.push(response))
  let onReread = () => {}
  const gateway = await startGateway(t, {
    backend,
    config: { routes: routes('/held'), shutdown: { drain: '10s' } },
    onReread: (loaded) => {
      onReread()
      return loaded
    },
  })
  const client = await connectRaw(t, gateway.url)
  client.send(head('/held'))
  await until('the backend has it', () => held[0])
  let down: Promise<boolean> | undefined
  onReread = () => {
    down = gateway.shutDown()
  }
  rewrite(gateway.configFile, { routes: routes('/other') })
  t.strictSame(await askForReload(gateway.opsUrl), {
    code: 503,
    status: 'failed',
    problems: ['the gateway is shutting down'],
  })
  t.notOk(gateway.logLines.some((line) => line.includes('config reloaded')))
  held[0]?.end('late')
  t.equal((await client.response()).status, 200)
  t.equal(await down, true)
})
