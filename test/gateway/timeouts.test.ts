import t from 'tap'
import { startRawBackend, startServer } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw, type RawClient } from '../setup/raw-client.ts'
import { accessTokenPath, ask } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

/** Sends a text byte by byte until the other side closes. @returns how to stop */
function drip(client: RawClient, text: string): () => void {
  let index = 0
  const timer = setInterval(() => {
    if (client.socket.writable) client.send(text[index++ % text.length] ?? '')
  }, 20)
  client.socket.once('close', () => clearInterval(timer))
  return () => clearInterval(timer)
}

const listen = { port: 0, requestTimeout: '1s' }

t.test('a request head slower than requestTimeout is 408, however steadily it arrives', async (t) => {
  const gateway = await startGateway(t, { config: { listen } })
  const start = performance.now()
  const silent = await connectRaw(t, gateway.url)
  const half = await connectRaw(t, gateway.url)
  half.send('GET /public HTTP/1.1\r\nHost')
  const dripping = await connectRaw(t, gateway.url)
  drip(dripping.send('GET /public HTTP/1.1\r\nHost: x\r\n'), 'X: y\r\n')
  const second = await connectRaw(t, gateway.url)
  second.send('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n')
  t.equal((await second.response()).status, 404)
  second.send('GET /public HT')
  for (const client of [half, dripping, second]) {
    const response = await client.response()
    t.equal(response.status, 408)
    t.equal(response.headers['content-type'], 'application/problem+json')
    t.match(response.json(), { type: 'urn:gatehouse:request-timeout', status: 408, code: 'request-timeout' })
    t.equal(response.headers.connection, 'close')
    await client.ended()
  }
  await silent.ended()
  const tookMs = performance.now() - start
  t.ok(tookMs > 900 && tookMs < 4_000, `${Math.round(tookMs)} ms`)
})

t.test('empty lines before a request head do not extend requestTimeout', async (t) => {
  const gateway = await startGateway(t, { config: { listen } })
  const fresh = await connectRaw(t, gateway.url)
  const kept = await connectRaw(t, gateway.url)
  kept.send('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n')
  t.equal((await kept.response()).status, 404)
  for (const client of [fresh, kept]) drip(client, '\r\n')
  for (const client of [fresh, kept]) await until('it is over', () => client.socket.closed, 4_000)
})

t.test('a JSON body slower than requestTimeout is 408', async (t) => {
  const gateway = await startGateway(t, { config: { listen } })
  const { secretKey, apiKey } = await gateway.createAccount()
  const text = JSON.stringify({ SecretKey: secretKey, APIKey: apiKey })
  const head = `POST ${accessTokenPath} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
  const counted = await connectRaw(t, gateway.url)
  counted.send(`${head}Content-Length: ${text.length}\r\n\r\n${text.slice(0, 9)}`)
  const dripping = await connectRaw(t, gateway.url)
  drip(dripping.send(`${head}Content-Length: 60000\r\n\r\n`), ' ')
  const chunked = await connectRaw(t, gateway.url)
  chunked.send(`${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`)
  for (const client of [counted, dripping, chunked]) {
    const response = await client.response()
    t.match(response.json(), { status: 408, code: 'request-timeout' })
    await client.ended()
  }
})

t.test('a proxied body may take any time as long as it keeps moving', async (t) => {
  const gateway = await startBoth(t, { config: { listen } })
  const client = await connectRaw(t, gateway.url)
  client.send('POST /public HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n')
  const start = performance.now()
  const stop = drip(client, 'x')
  t.match(await client.response(), { status: 200 })
  stop()
  t.ok(performance.now() - start > 1_500, 'longer than a head may take')
})

t.test('a stalled upload ends its request, at the backend too', async (t) => {
  let abandoned = 0
  const url = await startServer(t, (request) => void request.on('error', () => abandoned++).resume())
  const gateway = await startGateway(t, {
    config: { upstreams: { backend: { targets: [{ url }], timeouts: { idle: '300ms' } } } },
  })
  const client = await connectRaw(t, gateway.url)
  client.send('POST /public HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nsome')
  const response = await client.response()
  t.match(response.json(), { status: 408, code: 'request-timeout' })
  await client.ended()
  await until('the backend request is aborted', () => abandoned === 1)
})

t.test('an idle connection ends after keepAliveTimeout', async (t) => {
  const options = { port: 0, keepAliveTimeout: '1s' }
  const gateway = await startBoth(t, { config: { listen: options } })
  const client = await connectRaw(t, gateway.url)
  const start = performance.now()
  client.send('GET /public HTTP/1.1\r\nHost: x\r\n\r\n')
  t.equal((await client.response()).status, 200)
  await client.ended()
  // Node keeps it a second longer than it says, so that a client which believes it is never cut.
  t.ok(performance.now() - start < 5_000)
})

t.test("a route's response timeout overrides its upstream's", async (t) => {
  const gateway = await startBoth(t, {
    answer: () => {},
    config: {
      routes: [
        { name: 'fast', path: '/fast', upstream: 'backend', auth: 'none', timeouts: { response: '100ms' } },
      ],
    },
  })
  const start = performance.now()
  assertProblem(t, await ask(t, gateway.url, 'GET /fast'), { status: 504, code: 'upstream-timeout' })
  t.ok(performance.now() - start < 3_000)
})

t.test("a route's idle timeout overrides its upstream's, longer or shorter", async (t) => {
  const streams = new Map<string, () => void>()
  const url = await startServer(t, (request, response) => {
    response.write('data: 1\n\n')
    streams.set(request.url ?? '', () => response.end('data: 2\n\n'))
  })
  const route = { upstream: 'backend', auth: 'none' }
  const gateway = await startGateway(t, {
    config: {
      upstreams: {
        backend: { targets: [{ url }], timeouts: { idle: '200ms' } },
        patient: { targets: [{ url }], timeouts: { idle: '1m' } },
      },
      routes: [
        { ...route, name: 'plain', path: '/plain' },
        { ...route, name: 'events', path: '/events', timeouts: { idle: '1m' } },
        { ...route, name: 'strict', path: '/strict', upstream: 'patient', timeouts: { idle: '100ms' } },
      ],
    },
  })
  const start = async (path: string) => {
    const client = await connectRaw(t, gateway.url)
    client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await client.readUntil('data: 1\n\n')
    return client
  }
  const events = await start('/events')
  const plain = await start('/plain')
  // The response is broken off: its last chunk never comes.
  for (const client of [plain, await start('/strict')]) {
    await client.ended()
    t.notMatch(client.rest().toString(), '0\r\n\r\n')
  }
  streams.get('/events')?.()
  t.match(await events.readUntil('0\r\n\r\n'), 'data: 2')
})

t.test(
  'a target that is silent while the client waits for a 100 is 504, not the fault of the client',
  async (t) => {
    const url = await startRawBackend(t, (socket) => socket.resume())
    const timeouts = { response: '200ms', idle: '20s' }
    const gateway = await startGateway(t, {
      config: { upstreams: { backend: { targets: [{ url }], timeouts } } },
    })
    const client = await connectRaw(t, gateway.url)
    client.send('PUT /public HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n')
    assertProblem(t, await client.response(), { status: 504, code: 'upstream-timeout' })
  },
)
