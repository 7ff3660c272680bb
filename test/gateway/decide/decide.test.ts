import t from 'tap'
import { ask as askHttp2, codeOf, connectHttp2 } from '../../http/h2/ask.ts'
import { startBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { connectRaw, rawRequest } from '../../setup/raw-client.ts'
import { startRedis } from '../../setup/redis.ts'
import { ask } from '../support/ask.ts'
import { assertProblem } from '../support/problem.ts'
import { askDecision, askWith, describing, startDecideGateway } from './support.ts'

t.test('an allowed request is answered with exactly the headers that the proxy is to set', async (t) => {
  const gateway = await startDecideGateway(t)
  const {
    account: { id },
    secretKey,
  } = await gateway.createAccount()
  const headers = [`SecretKey: ${secretKey}`, 'X-User-Id: admin', 'X-Custom: of the client', 'Cookie: a=b']
  const response = await askDecision(t, gateway, { uri: '/key/1?a=b', headers })
  t.equal(response.status, 200)
  t.equal(response.body, '')
  const { date, 'x-request-id': requestId, ...rest } = response.headers
  t.match(date, /GMT$/)
  t.match(requestId, /^[0-9a-f-]{36}$/)
  t.strictSame(rest, {
    'cache-control': 'no-store',
    'x-user-id': id,
    'x-user-role': 'User',
    'content-length': '0',
    connection: 'keep-alive',
    'keep-alive': 'timeout=72',
  })
})

t.test("the proxy is told where Authorization is the backend's, and by nothing of the client", async (t) => {
  const routes = [
    { name: 'left', path: '/left', auth: 'any', authorization: 'backend' },
    { name: 'open', path: '/open', auth: 'none', authorization: 'backend' },
    { name: 'ours', path: '/ours', auth: 'any' },
  ]
  const gateway = await startDecideGateway(t, { config: { routes } })
  const { account, secretKey } = await gateway.createAccount()
  const key = `SecretKey: ${secretKey}`
  const theirs = ['Authorization: Basic YTpi', 'X-Gatehouse-Authorization: backend']
  for (const uri of ['/left', '/open']) {
    const { status, headers } = await askDecision(t, gateway, { uri, headers: [key, ...theirs] })
    t.equal(status, 200)
    t.match(headers, {
      'x-gatehouse-authorization': 'backend',
      'x-user-id': uri === '/left' ? account.id : '',
    })
    t.notOk('authorization' in headers, 'nothing of the client')
    const misplaced = [`Authorization: Bearer ${secretKey}`]
    const refused = await askDecision(t, gateway, { uri, headers: misplaced })
    assertProblem(t, refused, { status: 400, code: 'credentials-misplaced' })
  }
  const ours = await askDecision(t, gateway, { uri: '/ours', headers: [key, ...theirs] })
  t.equal(ours.status, 200)
  t.notOk('x-gatehouse-authorization' in ours.headers)
})

t.test('an anonymous caller gets empty headers, which overwrite what a client sent', async (t) => {
  const names = { id: 'X-User-Id', role: 'X-User-Role', email: 'X-User-Email' }
  const identity = { headers: names, assertion: { enabled: true } }
  const gateway = await startDecideGateway(t, { config: { identity } })
  for (const uri of ['/public', '/optional']) {
    const { status, headers } = await askDecision(t, gateway, { uri, headers: ['X-User-Id: admin'] })
    t.equal(status, 200, uri)
    for (const name of [...Object.values(names), 'X-Gatehouse-Assertion'])
      t.equal(headers[name.toLowerCase()], '', `${name} on ${uri}`)
  }
})

t.test('what a caller does not have is an empty header, not a missing one', async (t) => {
  const headers = { session: 'X-User-Session', plan: 'X-User-Plan', key: 'X-User-Key' }
  const gateway = await startDecideGateway(t, { config: { identity: { headers } } })
  const { secretKey } = await gateway.createAccount()
  const response = await askDecision(t, gateway, { uri: '/key', headers: [`SecretKey: ${secretKey}`] })
  t.match(response.headers, { 'x-user-session': '', 'x-user-plan': '', 'x-user-key': 'default' })
})

t.test('a WebDAV Destination is decided too, as the proxy would forward it', async (t) => {
  const gateway = await startDecideGateway(t)
  const { secretKey } = await gateway.createAccount()
  const move = (destination: string) =>
    askDecision(t, gateway, {
      method: 'MOVE',
      uri: '/key/x',
      headers: [`SecretKey: ${secretKey}`, `Destination: ${destination}`],
    })
  for (const destination of ['/key/y', '/any/y', 'http://gateway.test/key/y'])
    t.equal((await move(destination)).status, 200, destination)
  for (const destination of [
    '/admin/y',
    '/bearer/y',
    '/nowhere',
    '/key/../admin',
    'http://evil.example/key/y',
  ])
    assertProblem(t, await move(destination), { status: 403, code: 'destination-forbidden' })
})

t.test('a refusal has the status, code, headers and body of the main listener', async (t) => {
  const backend = await startBackend(t)
  const gateway = await startDecideGateway(t, { backend: backend.url })
  const { secretKey } = await gateway.createAccount()
  const key = `SecretKey: ${secretKey}`
  const cases: readonly (readonly [method: string, uri: string, headers: readonly string[]])[] = [
    ['GET', '/key', []],
    ['GET', '/key', ['SecretKey: wrong']],
    ['GET', '/bearer', ['Authorization: Bearer x.y.z']],
    ['GET', '/bearer', [key]],
    ['GET', '/any', [key, 'Authorization: Bearer x.y.z']],
    ['GET', '/admin', [key]],
    ['GET', '/nowhere', [key]],
    ['GET', '/key/../admin', [key]],
    ['GET', '/key/%2e%2e/admin', [key]],
    ['TRACE', '/key', [key]],
    ['CONNECT', '/key', [key]],
  ]
  for (const [method, uri, headers] of cases) {
    const decided = await askDecision(t, gateway, { method, uri, headers })
    const main = await ask(t, gateway.url, `${method} ${uri}`, headers)
    const shown = ({ headers: fields, status, body }: typeof main) => {
      const { date: _, 'x-request-id': id = '', connection: __, 'keep-alive': ___, ...rest } = fields
      return { status, rest, body: body.replaceAll(id, 'ID') }
    }
    t.strictSame(shown(decided), shown(main), `${method} ${uri} ${headers}`)
    t.ok(decided.status >= 400)
  }
  t.equal(backend.seen.length, 0, 'nothing is forwarded')
})

t.test('over HTTP/2 a refused call of gRPC has the status of its refusal', async (t) => {
  const gateway = await startDecideGateway(t)
  const { secretKey } = await gateway.createAccount()
  const session = await connectHttp2(t, gateway.decideUrl)
  const call = { ':method': 'POST', 'content-type': 'application/grpc' }
  const refusal = async (uri: string, path: string, headers = {}) => {
    const description = describing({ method: 'POST', uri }).map((line) => line.split(': '))
    const answer = await askHttp2(session, path, {
      headers: { ...Object.fromEntries(description), ...call, ...headers },
    })
    return `${answer.status} ${codeOf(answer)}`
  }
  t.equal(await refusal('/key/x', '/decide'), '401 credentials-missing')
  t.equal(await refusal('', '/envoy/key/x'), '401 credentials-missing')
  t.equal(await refusal('/key/x', '/decide', { secretkey: 'gate_sk_no' }), '401 secret-key-invalid')
  t.equal(await refusal('/admin/x', '/decide', { secretkey: secretKey }), '403 role-forbidden')
  t.equal(await refusal('/nowhere', '/decide?deny=403'), '403 route-not-found')
  t.equal(await refusal('', '/decide'), '403 request-invalid')
  t.equal(await refusal('/key/x', '/decide', { secretkey: secretKey }), '200 ')
  const tooLarge = { 'x-large': 'x'.repeat(36_000) }
  t.equal(await refusal('/key/x', '/decide', tooLarge), '431 headers-too-large', 'nor what cannot be read')
})

t.test('deny=403 maps every refusal but 401 to 403, and keeps code and headers', async (t) => {
  const routes = [
    { name: 'key', path: '/key', auth: 'secretKey' },
    { name: 'rated', path: '/rated', auth: 'none', rateLimit: { limit: 1, per: '1h', by: 'ip' } },
  ]
  const gateway = await startDecideGateway(t, { config: { routes } })
  const path = '/decide?deny=403'
  assertProblem(t, await askDecision(t, gateway, { uri: '/key', path }), {
    status: 401,
    code: 'credentials-missing',
  })
  assertProblem(t, await askDecision(t, gateway, { uri: '/none', path }), {
    status: 403,
    code: 'route-not-found',
  })
  t.equal((await askDecision(t, gateway, { uri: '/rated', path })).status, 200)
  const limited = await askDecision(t, gateway, { uri: '/rated', path })
  assertProblem(t, limited, { status: 403, code: 'rate-limited' })
  t.match(limited.headers['retry-after'], /^\d+$/)
  t.equal(limited.headers['ratelimit-limit'], '1')
  assertProblem(t, await askDecision(t, gateway, { uri: '/rated', path: '/decide?deny=404' }), {
    status: 429,
    code: 'rate-limited',
  })
})

t.test('with deny=403 only a refusal for a limit tells of it', async (t) => {
  const rateLimit = { limit: 9, per: '1h', by: 'ip' }
  const gateway = await startDecideGateway(t, {
    config: { routes: [{ name: 'rated', path: '/rated', auth: 'none', rateLimit }] },
  })
  const copy = (path: string) =>
    askDecision(t, gateway, {
      method: 'COPY',
      uri: '/rated/x',
      path,
      headers: ['Destination: http://evil.example/'],
    })
  for (const [path, limit] of [
    ['/decide', '9'],
    ['/decide?deny=403', undefined],
  ] as const) {
    const refused = await copy(path)
    assertProblem(t, refused, { status: 403, code: 'destination-forbidden' })
    t.equal(refused.headers['ratelimit-limit'], limit, path)
  }
})

t.test('limits and usage are those of the main listener', async (t) => {
  const backend = await startBackend(t)
  const rateLimit = { limit: 2, per: '1h' }
  const routes = [{ name: 'key', path: '/key', auth: 'secretKey', upstream: 'backend', rateLimit }]
  const gateway = await startDecideGateway(t, { backend: backend.url, config: { routes } })
  const {
    account: { id },
    secretKey,
  } = await gateway.createAccount()
  const headers = [`SecretKey: ${secretKey}`]
  t.equal((await ask(t, gateway.url, 'GET /key', headers)).status, 200)
  t.equal((await askDecision(t, gateway, { uri: '/key', headers })).status, 200)
  const limited = await askDecision(t, gateway, { uri: '/key', headers })
  assertProblem(t, limited, { status: 429, code: 'rate-limited' })
  t.equal((await ask(t, gateway.url, 'GET /key', headers)).status, 429)
  await gateway.shutDown()
  const counts = await gateway.operate(({ usage }) => usage.read(id, usage.keptDays()))
  t.match(counts, [{ route: 'key', key: 'default', requests: 2, units: 2 }])
})

t.test('Envoy asks for the original path, with the method and host of the request', async (t) => {
  const routes = [
    { name: 'here', host: 'here.test', path: '/a', methods: ['PUT'], auth: 'secretKey' },
    { name: 'all', path: '/', auth: 'none' },
  ]
  const gateway = await startDecideGateway(t, { config: { routes } })
  const {
    account: { id },
    secretKey,
  } = await gateway.createAccount()
  const envoy = (line: string, host: string, ...headers: string[]) =>
    rawRequest(t, gateway.decideUrl, [`${line} HTTP/1.1`, `Host: ${host}`, 'Content-Length: 0', ...headers])
  const allowed = await envoy('PUT /envoy/a/b?c=d', 'here.test', `SecretKey: ${secretKey}`)
  t.equal(allowed.status, 200)
  t.equal(allowed.headers['x-user-id'], id)
  t.equal((await envoy('PUT /envoy/a', 'here.test')).status, 401)
  t.equal((await envoy('GET /envoy/a', 'here.test', 'X-Forwarded-Method: PUT')).status, 405, 'its own method')
  t.equal((await envoy('PUT /envoy/a', 'there.test')).status, 200, 'another host')
  t.equal((await envoy('HEAD /envoy/b', 'there.test')).status, 200)
  t.equal((await envoy('PUT /envoy/a/../b', 'here.test')).status, 400)
  t.equal((await envoy('PUT /envoy', 'here.test')).status, 403)
  t.equal((await envoy('PUT /envoyer/a', 'here.test')).status, 403)
})

t.test('only trusted proxies are believed, and what others ask is logged', async (t) => {
  const gateway = await startDecideGateway(t, { config: { trustedProxies: ['192.0.2.1'] } })
  for (const path of ['/decide', '/envoy/public']) {
    const response = await askDecision(t, gateway, { uri: '/public', path })
    assertProblem(t, response, { status: 403, code: 'address-forbidden' })
  }
  t.equal(gateway.logLines.filter((line) => line.includes('is not in trustedProxies')).length, 1, 'said once')
})

t.test('a description that cannot be read is 400 in the log, and 403 to the proxy', async (t) => {
  const gateway = await startDecideGateway(t)
  const whole = describing({ uri: '/public' })
  t.equal((await askWith(t, gateway, whole)).status, 200)
  const without = (name: string) => whole.filter((line) => !line.startsWith(name))
  for (const name of ['X-Forwarded-Uri', 'X-Forwarded-Method', 'X-Forwarded-Host'])
    assertProblem(t, await askWith(t, gateway, without(name)), { status: 403, code: 'request-invalid' })
  const lines = gateway.logLines.filter(
    (line) => line.includes('"msg":"request"') && line.includes('request-invalid'),
  )
  t.equal(lines.length, 3)
  for (const line of lines)
    t.match(JSON.parse(line), { status: 400, listener: 'decide', reason: /^X-Forwarded-\w+ is missing/ })
})

t.test('the store out of reach is 503, for callers that are not known', async (t) => {
  const redis = await startRedis(t)
  const gateway = await startDecideGateway(t, { driver: 'redis', redis })
  const known = [`SecretKey: ${(await gateway.createAccount()).secretKey}`]
  const unknown = [`SecretKey: ${(await gateway.createAccount()).secretKey}`]
  t.equal((await askDecision(t, gateway, { uri: '/key', headers: known })).status, 200)
  await redis.stop()
  const response = await until('it is 503', async () => {
    const asked = await askDecision(t, gateway, { uri: '/key', headers: unknown })
    return asked.status === 503 ? asked : undefined
  })
  assertProblem(t, response, { status: 503, code: 'store-unavailable' })
  t.equal((await askDecision(t, gateway, { uri: '/key', headers: known })).status, 200)
  const denied = await askDecision(t, gateway, { uri: '/key', headers: unknown, path: '/decide?deny=403' })
  assertProblem(t, denied, { status: 403, code: 'store-unavailable' })
  t.equal(denied.headers['retry-after'], '1')
})

t.test('a body is ignored, however it comes, and the connection is kept', async (t) => {
  const gateway = await startDecideGateway(t)
  const client = await connectRaw(t, gateway.decideUrl)
  const head = ['POST /decide HTTP/1.1', 'Host: gatehouse', ...describing({ uri: '/public' })].join('\r\n')
  const large = 'x'.repeat(500_000)
  for (const rest of [
    '\r\n\r\n',
    '\r\nContent-Length: 5\r\n\r\nhello',
    `\r\nContent-Length: ${large.length}\r\n\r\n${large}`,
    '\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  ]) {
    const { status, headers } = await client.send(head + rest).response()
    t.equal(status, 200)
    t.equal(headers.connection, 'keep-alive')
  }
})

t.test('a question of another method than GET and POST, or of another path, is refused', async (t) => {
  const gateway = await startDecideGateway(t)
  const send = (line: string) =>
    rawRequest(t, gateway.decideUrl, [
      `${line} HTTP/1.1`,
      'Host: gatehouse',
      ...describing({ uri: '/public' }),
    ])
  t.equal((await send('POST /decide')).status, 200)
  t.equal((await send('GET /decide?a=b&deny=404')).status, 200, 'a query of the client that a proxy adds')
  for (const line of ['PUT /decide', 'HEAD /decide', 'GET /', 'GET /decide/', 'GET /decide2', 'GET /public'])
    t.equal((await send(line)).status, 403, line)
})

t.test('a WebSocket over HTTP/2 is no question, whatever it describes', async (t) => {
  const gateway = await startDecideGateway(t)
  const session = await connectHttp2(t, gateway.decideUrl)
  const description = describing({ uri: '/public' }).map((line) => line.split(': '))
  const question = Object.fromEntries(description)
  for (const path of ['/decide', '/envoy/public']) {
    t.equal((await askHttp2(session, path, { headers: question })).status, 200, path)
    const handshake = { ...question, ':method': 'CONNECT', ':protocol': 'websocket' }
    const answer = await askHttp2(session, path, { headers: handshake })
    t.equal(`${answer.status} ${codeOf(answer)}`, '403 method-not-allowed', path)
  }
})

t.test(
  'traceparent is that of the client, or of the span of the decision where tracing is configured',
  async (t) => {
    const client = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const traced = { tracing: { otlp: { endpoint: 'http://127.0.0.1:1', sampleRatio: 1 } } }
    const plain = await startDecideGateway(t)
    const tracing = await startDecideGateway(t, { config: traced })
    const headers = [`traceparent: ${client}`]
    t.equal((await askDecision(t, plain, { uri: '/public', headers })).headers.traceparent, client)
    for (const lines of [[], ['traceparent: nonsense'], [...headers, ...headers]])
      t.equal(
        (await askDecision(t, plain, { uri: '/public', headers: lines })).headers.traceparent,
        undefined,
      )
    const passed = (await askDecision(t, tracing, { uri: '/public', headers })).headers.traceparent
    t.match(passed, /^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/)
    t.not(passed, client)
    t.match(
      (await askDecision(t, tracing, { uri: '/public' })).headers.traceparent,
      /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/,
    )
  },
)
