import t from 'tap'
import { askDecision, askWith, describing, startDecideGateway } from '../gateway/decide/support.ts'

const routes = [
  { name: 'public', path: '/public', auth: 'none' },
  { name: 'read', path: '/read', methods: ['GET'], auth: 'none' },
  { name: 'write', path: '/read', methods: ['POST'], auth: 'secretKey' },
  { name: 'internal', host: 'internal.test', path: '/', auth: 'secretKey' },
  { name: 'admin', path: '/admin', auth: 'any', roles: ['Admin'] },
]

t.test('a description that two readers could understand differently is refused', async (t) => {
  const gateway = await startDecideGateway(t, { config: { routes } })
  const whole = describing({ uri: '/public' })
  t.equal((await askWith(t, gateway, whole)).status, 200)
  const replaced = (line: string) => {
    const name = line.slice(0, line.indexOf(':'))
    return [...whole.filter((each) => !each.startsWith(`${name}:`)), line]
  }
  const lists: readonly (readonly string[])[] = [
    ...['X-Forwarded-Uri: /admin', 'X-Forwarded-Uri: /public', 'x-forwarded-uri: /public'].map((line) => [
      ...whole,
      line,
    ]),
    [...whole, 'X-Forwarded-Method: POST'],
    [...whole, 'X-Forwarded-Method: GET'],
    [...whole, 'X-Forwarded-Host: internal.test'],
    [...whole, 'X-Forwarded-Proto: http'],
    ...[
      'X-Forwarded-Uri: /public, /admin',
      'X-Forwarded-Uri: public',
      'X-Forwarded-Uri:',
      'X-Forwarded-Uri: *',
      'X-Forwarded-Uri: http://gateway.test/public',
      'X-Forwarded-Uri: https:/public',
      'X-Forwarded-Uri: ?/public',
      'X-Forwarded-Uri: /public\t/admin',
      'X-Forwarded-Uri: /public HTTP/1.1',
      'X-Forwarded-Method: GET, POST',
      'X-Forwarded-Method: GET POST',
      'X-Forwarded-Method:',
      'X-Forwarded-Method: G(T',
      'X-Forwarded-Host: gateway.test, internal.test',
      'X-Forwarded-Host: gateway.test,internal.test',
      'X-Forwarded-Host:',
      'X-Forwarded-Proto: https, http',
      'X-Forwarded-Proto:',
    ].map(replaced),
  ]
  for (const lines of lists) {
    const response = await askWith(t, gateway, lines)
    t.equal(response.status, 403, `${lines.at(-1)}`)
    t.equal(response.json().code, 'request-invalid')
  }
})

t.test('a described path is as ambiguous as one that is sent', async (t) => {
  const gateway = await startDecideGateway(t, { config: { routes } })
  const paths = [
    '/public/../admin',
    '/public/%2e%2e/admin',
    '/public/..%2fadmin',
    '/public/..;/admin',
    '/public/..\\admin',
    '//admin',
    '//gateway.test/public',
    '/public#/../admin',
    '/public%00',
    '/public/%',
    '/Admin',
    '/admin%2f',
    '/admin;x',
  ]
  for (const uri of paths) {
    const response = await askDecision(t, gateway, { uri })
    t.equal(response.status, 400, uri)
    t.equal(response.json().code, 'path-ambiguous', uri)
  }
  for (const uri of ['/public/\xc3\xa9', '/public/caf\xc3\xa0', '/public/\xa0\x85'])
    t.equal((await askDecision(t, gateway, { uri })).status, 200, 'bytes above 0x7F are percent-encoded')
})

t.test('the method and host that are described decide, not those of the question', async (t) => {
  const gateway = await startDecideGateway(t, { config: { routes } })
  t.equal((await askDecision(t, gateway, { uri: '/read' })).status, 200)
  t.equal((await askDecision(t, gateway, { uri: '/read', method: 'POST' })).status, 401)
  t.equal((await askDecision(t, gateway, { uri: '/read', method: 'get' })).status, 405)
  t.equal((await askDecision(t, gateway, { uri: '/public', method: 'DELETE' })).status, 200)
  for (const method of ['TRACE', 'CONNECT'])
    t.equal((await askDecision(t, gateway, { uri: '/public', method })).status, 405, method)
  for (const host of ['internal.test', 'INTERNAL.test', 'internal.test:8443'])
    t.equal((await askDecision(t, gateway, { uri: '/x', host })).status, 401, host)
  const ownHost = await askWith(t, gateway, [...describing({ uri: '/x' }), 'Connection: close'])
  t.equal(ownHost.status, 404, 'the Host of the question is not that of the request')
  for (const host of ['internal.test/', 'internal test', 'a@internal.test', 'internal.test:x'])
    t.equal((await askDecision(t, gateway, { uri: '/x', host })).status, 400, host)
})

t.test('what the gateway answers itself is never allowed: a proxy would forward it', async (t) => {
  const origin = 'https://app.example.com'
  const gateway = await startDecideGateway(t, { config: { routes, cors: { origins: [origin] } } })
  const { secretKey } = await gateway.createAccount({ role: 'Admin' })
  const own = [
    '/api/v1/accounts/access-token',
    '/api/v1/admin/accounts',
    '/api/v1/accounts/usage',
    '/.well-known/jwks.json',
    '/portal',
    '/portal/sign-in',
    '/%70ortal/sign-in',
  ]
  for (const uri of own)
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const response = await askDecision(t, gateway, { uri, method, headers: [`SecretKey: ${secretKey}`] })
      t.equal(response.status, 404, `${method} ${uri}`)
    }
  const preflight = [`Origin: ${origin}`, 'Access-Control-Request-Method: POST']
  const response = await askDecision(t, gateway, { uri: '/admin', method: 'OPTIONS', headers: preflight })
  t.equal(response.status, 404)
  t.equal(response.headers['access-control-allow-origin'], origin, 'the page may read why')
})

t.test('another spelling of an identity header is refused: an answer cannot remove it', async (t) => {
  const gateway = await startDecideGateway(t, {
    config: { routes, identity: { headers: { name: 'Remote-Name' } } },
  })
  const spellings = [
    'X_User_Id',
    'x-user_id',
    'X.User.Role',
    'XUserEmail',
    'X-Gatehouse_Assertion',
    'Remote_Name',
  ]
  for (const path of ['/decide', '/decide?deny=403'])
    for (const name of spellings) {
      const response = await askDecision(t, gateway, { uri: '/public', path, headers: [`${name}: admin`] })
      t.equal(response.status, 403, name)
      t.match(response.json().errors, [{ field: name }])
    }
  for (const name of ['X-User-Id', 'x-USER-role', 'Remote-Name', 'X-User-Agent', 'X_Other']) {
    const { status } = await askDecision(t, gateway, { uri: '/public', headers: [`${name}: a`] })
    t.equal(status, 200, name)
  }
})

t.test('a head may be twice limits.headers, and a body is no part of the description', async (t) => {
  const gateway = await startDecideGateway(t, { config: { routes, limits: { headers: '2KiB' } } })
  const sized = async (bytes: number) => {
    const lines = describing({ uri: '/public' })
    const { host } = new URL(gateway.decideUrl)
    const head = [`GET /decide HTTP/1.1`, `Host: ${host}`, ...lines, 'X-Fill: '].join('\r\n').length + 4
    return (await askWith(t, gateway, [...lines, `X-Fill: ${'x'.repeat(bytes - head)}`])).status
  }
  t.equal(await sized(4_096), 200)
  t.equal(await sized(4_097), 431)
  t.equal(await sized(40_960), 431)
})
