import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { HealthChange } from '#http/upstream/target-set.ts'
import { until } from '../../setup/net.ts'
import { startStreamBackend } from '../h2/ask.ts'
import { openTestUpstream, request } from '../outgoing/exchange.ts'

const asIs = (bytes: Buffer): Buffer => bytes

/** HealthCheckResponse, by its serving status. */
const answers = { serving: '0801', notServing: '0802', unknown: '', other: '0809', nonsense: '1801' }

interface HealthServer {
  readonly url: string
  /** The requests for a health check, in hex, and the metadata of the last. */
  readonly asked: string[]
  metadata: Record<string, unknown>
  answer: keyof typeof answers | number | undefined
}

/** A real gRPC server with the health service, answering with a status of it, an error, or not at all. */
async function startHealthServer(t: Test, answer: HealthServer['answer']): Promise<HealthServer> {
  const server = new Server()
  const path = '/grpc.health.v1.Health/Check'
  const codec = {
    ...{ requestSerialize: asIs, requestDeserialize: asIs },
    ...{ responseSerialize: asIs, responseDeserialize: asIs },
  }
  server.addService(
    { check: { path, requestStream: false, responseStream: false, originalName: 'check', ...codec } },
    {
      check: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
        made.asked.push(call.request.toString('hex'))
        made.metadata = call.metadata.getMap()
        if (typeof made.answer === 'number') done({ code: made.answer, details: 'no' })
        else if (made.answer !== undefined) done(null, Buffer.from(answers[made.answer], 'hex'))
      },
    },
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  t.teardown(() => server.forceShutdown())
  const made: HealthServer = { url: `http://127.0.0.1:${port}`, asked: [], metadata: {}, answer }
  return made
}

function openChecked(t: Test, url: string, grpcService = '', timeoutMs = 5_000) {
  const changes: HealthChange[] = []
  const active = { grpcService, intervalMs: 20, timeoutMs, unhealthyAfter: 2, healthyAfter: 2 }
  const upstream = openTestUpstream(
    t,
    url,
    { protocol: 'http2', health: { active, passive: undefined } },
    { onHealthChange: (change) => changes.push(change) },
  )
  return { upstream, changes }
}

t.test('a service that is SERVING is healthy, and asked for by its name', async (t) => {
  const server = await startHealthServer(t, 'serving')
  const { changes } = openChecked(t, server.url, 'shop.Orders')
  await until('it is checked', () => server.asked.length > 4 || undefined)
  t.strictSame(changes, [])
  t.equal(server.asked[0], `0a0b${Buffer.from('shop.Orders').toString('hex')}`)
  t.match(server.metadata, { 'user-agent': 'gatehouse' })
  const named = await startHealthServer(t, 'serving')
  const name = 'x'.repeat(200)
  openChecked(t, named.url, name)
  await until('it is checked', () => named.asked[0])
  t.equal(named.asked[0], `0ac801${Buffer.from(name).toString('hex')}`)
  const whole = await startHealthServer(t, 'serving')
  openChecked(t, whole.url)
  await until('it is checked', () => whole.asked.length > 0 || undefined)
  t.equal(whole.asked[0], '')
})

t.test('whatever is not SERVING is unhealthy, until it is', async (t) => {
  for (const [answer, reason] of [
    ['notServing', /last: NOT_SERVING$/],
    ['unknown', /last: UNKNOWN$/],
    ['other', /last: status 9$/],
    ['nonsense', /last: the response is not a HealthCheckResponse$/],
    [status.NOT_FOUND, /last: grpc-status 5$/],
    [status.UNAVAILABLE, /last: grpc-status 14$/],
  ] as const) {
    const server = await startHealthServer(t, answer)
    const { changes } = openChecked(t, server.url)
    t.match(await until('it is out', () => changes[0]), { isHealthy: false, reason })
    server.answer = 'serving'
    t.match(await until('it is back', () => changes[1]), { isHealthy: true })
  }
})

t.test('a target that does not answer, or has no health service, is unhealthy', async (t) => {
  const silent = await startHealthServer(t, undefined)
  const none = new Server()
  const port = await new Promise<number>((resolve) => {
    none.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_error, bound) => resolve(bound))
  })
  t.teardown(() => none.forceShutdown())
  const plain = await startStreamBackend(t, (stream) => {
    stream.respond({ ':status': 200 })
    stream.end('ok')
  })
  const failing = await startStreamBackend(t, (stream) =>
    stream.respond({ ':status': 503 }, { endStream: true }),
  )
  const endless = await startStreamBackend(t, (stream) => {
    stream.respond({ ':status': 200 })
    stream.end(Buffer.alloc(1_000_000))
  })
  for (const [url, reason] of [
    // Its deadline is in the request, too: whoever is first says so.
    [silent.url, /no response within 200 ms$|grpc-status 4$/],
    [`http://127.0.0.1:${port}`, /last: grpc-status 12$/],
    [plain.url, /last: the response has no grpc-status$/],
    [failing.url, /last: status 503$/],
    [endless.url, /last: the response is too long$/],
  ] as const) {
    const { changes } = openChecked(t, url, '', url === silent.url ? 200 : 5_000)
    t.match(await until('it is out', () => changes[0]), { isHealthy: false, reason })
  }
})

t.test('health checks share the connection of requests', async (t) => {
  const backend = await startStreamBackend(t, (stream) => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(Buffer.from('00000000020801', 'hex'))
  })
  const { upstream, changes } = openChecked(t, backend.url)
  for (let turn = 0; turn < 20; turn++) await request(upstream)
  t.strictSame([backend.connections(), changes], [1, []])
})
