import t, { type Test } from 'tap'
import { startCollector } from '../ops/tracing/collector.ts'
import { startBackend } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { ask, jwksPath } from './support/ask.ts'
import { readMetrics } from './support/metrics.ts'
import { reloadWith } from './support/reload.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'
const error = 2

async function start(t: Test, sampleRatio = 1) {
  const collector = await startCollector(t)
  const backend = await startBackend(t, (request, response) => {
    response.statusCode = request.url?.includes('lost') ? 404 : 200
    response.end('ok')
  })
  const tracing = { otlp: { endpoint: `${collector.url}/`, sampleRatio } }
  const upstreams = {
    backend: { targets: [{ url: backend.url }] },
    dead: { targets: [{ url: 'http://127.0.0.1:1' }] },
  }
  const routes = [
    { name: 'key', path: '/key', upstream: 'backend', auth: 'secretKey' },
    { name: 'public', path: '/public', upstream: 'backend', auth: 'none' },
    { name: 'dead', path: '/dead', upstream: 'dead', auth: 'none' },
  ]
  const gateway = await startGateway(t, {
    config: { tracing, upstreams, routes, trustedProxies: ['127.0.0.1'] },
  })
  const { secretKey } = await gateway.createAccount()
  const spans = (count: number) =>
    until(`${count} spans`, () => (collector.spans.length >= count ? collector.spans : undefined))
  return { collector, backend, gateway, tracing, spans, key: `SecretKey: ${secretKey}` }
}

t.test('a request makes two spans, and the backend goes on with the second', async (t) => {
  const { backend, gateway, spans, key, collector } = await start(t)
  await ask(t, gateway.url, 'GET /key/secret-path?token=x', [key, 'User-Agent: curl/8'])
  const [server, client] = await spans(2)
  t.match(server, { name: 'GET /key', kind: 2, status: {} })
  t.match(client, { name: 'GET backend', kind: 3, status: {} })
  t.equal(server?.parentSpanId, undefined, 'the trace begins here')
  t.equal(client?.parentSpanId, server?.spanId)
  t.equal(client?.traceId, server?.traceId)
  t.equal(backend.last().headers.traceparent, `00-${client?.traceId}-${client?.spanId}-01`)
  t.match(server?.attributes, {
    'http.request.method': 'GET',
    'http.response.status_code': '200',
    'http.route': '/key',
    'url.scheme': 'http',
    'url.path': '/key/secret-path',
    'server.address': 'gateway.test',
    'client.address': '127.0.0.1',
    'network.peer.address': '127.0.0.1',
    'network.protocol.version': '1.1',
    'user_agent.original': 'curl/8',
    'gatehouse.route': 'key',
    'gatehouse.scheme': 'secretKey',
    'gatehouse.request_id': backend.last().headers['x-request-id'],
  })
  const { hostname, port } = new URL(backend.url)
  t.match(client?.attributes, {
    'gatehouse.upstream': 'backend',
    'http.response.status_code': '200',
    'url.full': `${backend.url}/key/secret-path`,
    'server.address': hostname,
    'server.port': port,
    'network.protocol.version': '1.1',
  })
  const [a, b, c, d] = [server, client].flatMap((span) => [
    BigInt(span?.startTimeUnixNano ?? 0),
    BigInt(span?.endTimeUnixNano ?? 0),
  ])
  t.ok(a !== undefined && b !== undefined && c !== undefined && d !== undefined && a <= c && c <= d && d <= b)
  t.notMatch(JSON.stringify(collector.spans), /token|gate_sk_/)
  const line = await until('the log has it', () =>
    gateway.logLines.find((each) => each.includes('"route":"key"')),
  )
  t.match(JSON.parse(line), { trace_id: server?.traceId, span_id: server?.spanId })
  t.match(collector.resources[0], { 'service.name': 'gatehouse', 'service.version': /^\d/ })
})

t.test('no span has a secret, wherever a client puts it', async (t) => {
  const { gateway, spans, key, collector } = await start(t)
  const [, secretKey = ''] = key.split(' ')
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'
  for (const secret of [secretKey, jwt]) {
    const encoded = secret.replaceAll(/[_.]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)
    for (const sent of [secret, encoded])
      await ask(t, gateway.url, `GET /public/${sent}`, [
        `Host: ${sent}`,
        `User-Agent: curl/8 ${sent}`,
        `traceparent: 00-${traceId}-${parentId}-01`,
        `tracestate: a=${sent}`,
        `X-Request-Id: ${sent}`,
        `Referer: ${sent}`,
      ])
  }
  await spans(4)
  await gateway.shutDown()
  const exported = JSON.stringify(collector.spans).toLowerCase()
  for (const secret of [secretKey.slice(-32), 'eyJzdWIiOiIxIn0']) t.notMatch(exported, secret.toLowerCase())
  t.match(exported, 'curl/8 [secret]')
})

t.test('a caller who was decided about a moment ago is traced as any other', async (t) => {
  const { backend, gateway, spans, key } = await start(t)
  for (let request = 1; request <= 3; request++) {
    await ask(t, gateway.url, 'GET /key', [key])
    const client = (await spans(2 * request)).at(-1)
    t.match(backend.last().headers.traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/, `request ${request}`)
    t.equal(client?.name, 'GET backend')
  }
})

t.test("the caller's sampling decision overrides the configured share", async (t) => {
  for (const ratio of [0, 1]) {
    const { backend, gateway, spans, collector } = await start(t, ratio)
    await ask(t, gateway.url, 'GET /public', [`traceparent: 00-${traceId}-${parentId}-00`, 'tracestate: a=b'])
    t.equal(backend.last().headers.traceparent, `00-${traceId}-${parentId}-00`, 'as it came')
    t.equal(backend.last().headers.tracestate, 'a=b')
    await ask(t, gateway.url, 'GET /public', [`traceparent: 00-${traceId}-${parentId}-01`, 'tracestate: a=b'])
    const [server, client] = await spans(2)
    t.match(server, { traceId, parentSpanId: parentId })
    t.equal(backend.last().headers.traceparent, `00-${traceId}-${client?.spanId}-01`)
    t.equal(backend.last().headers.tracestate, 'a=b')
    t.equal(collector.spans.length, 2, 'nothing of the first')
  }
})

t.test('an unsampled new trace is passed to the backend and not exported', async (t) => {
  const { backend, gateway, collector } = await start(t, 0)
  await ask(t, gateway.url, 'GET /public', ['traceparent: nonsense', 'tracestate: a=b'])
  t.match(backend.last().headers.traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
  t.equal(backend.last().headers.tracestate, undefined)
  await gateway.shutDown()
  t.strictSame(collector.requests, [])
})

t.test("a failed request's span has its error, a request to no upstream one span", async (t) => {
  const { gateway, spans } = await start(t)
  const unregistered = ['BREW /nowhere', 'gate_sk_0123456789 /nowhere']
  for (const line of ['GET /key', 'GET /dead', 'GET /public/lost', `GET ${jwksPath}`, ...unregistered]) {
    await ask(t, gateway.url, line)
  }
  const all = await spans(7)
  const of = (name: string) => all.find((span) => span.name === name)
  t.match(of('GET /key'), {
    status: { code: undefined },
    attributes: { 'error.type': 'credentials-missing' },
  })
  t.match(of('GET /dead'), { status: { code: error }, attributes: { 'error.type': 'upstream-unreachable' } })
  t.match(of('GET /public'), {
    status: { code: undefined },
    attributes: { 'http.response.status_code': '404' },
  })
  t.match(of('GET backend'), { status: { code: error }, attributes: { 'error.type': '404' } })
  t.match(of('GET'), { attributes: { 'http.response.status_code': '200' } })
  const others = all.filter(({ name }) => name === '_OTHER').map(({ attributes }) => attributes)
  for (const method of ['BREW', '[secret]'])
    t.ok(
      others.find((each) => each['http.request.method_original'] === method),
      method,
    )
  for (const attributes of others) t.equal(attributes['error.type'], 'route-not-found')
  t.equal(all.length, 7)
})

t.test('without tracing traceparent is passed on as it is, and none is made', async (t) => {
  const { backend, gateway } = await startBoth(t)
  await ask(t, gateway.url, 'GET /public', ['traceparent: anything'])
  t.equal(backend.last().headers.traceparent, 'anything')
  await ask(t, gateway.url, 'GET /public')
  t.equal(backend.last().headers.traceparent, undefined)
})

t.test('a hanging collector delays no request, and lost spans are counted', async (t) => {
  const { collector, gateway } = await start(t)
  collector.status = undefined
  for (let turn = 0; turn < 50; turn++) t.equal((await ask(t, gateway.url, 'GET /public')).status, 200)
  await until('spans are on their way', () => collector.requests.length > 0 || undefined)
  collector.status = 503
  const failed = await until('some have failed', async () => {
    const { value } = await readMetrics(gateway.opsUrl)
    return value('gatehouse_trace_spans_total', { outcome: 'failed' }) || undefined
  })
  t.ok(failed > 0)
})

t.test('pending spans are exported at the shutdown', async (t) => {
  const { collector, gateway } = await start(t)
  await ask(t, gateway.url, 'GET /public')
  t.equal(await gateway.shutDown(), true)
  t.equal(collector.spans.length, 2)
})

t.test('a reload begins, changes and ends it', async (t) => {
  const { collector, backend, gateway, tracing } = await start(t)
  const other = await startCollector(t)
  t.equal(
    (await reloadWith(gateway, { tracing: { otlp: { ...tracing.otlp, endpoint: other.url } } })).code,
    200,
  )
  await ask(t, gateway.url, 'GET /public')
  await until('they are sent', () => other.spans.length === 2 || undefined)
  t.equal((await reloadWith(gateway, { tracing: undefined })).code, 200)
  await ask(t, gateway.url, 'GET /public')
  t.equal(backend.last().headers.traceparent, undefined)
  t.equal((await reloadWith(gateway, { tracing })).code, 200)
  await ask(t, gateway.url, 'GET /public')
  await until('they are sent', () => collector.spans.length === 2 || undefined)
  t.equal(other.spans.length, 2)
})
