import t from 'tap'
import { startCannedBackend } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { ask } from './support/ask.ts'

const route = { upstream: 'backend', auth: 'any' }
const routes = [
  { ...route, name: 'any', path: '/any' },
  { ...route, name: 'open', path: '/open', auth: 'none' },
  { ...route, name: 'optional', path: '/optional', auth: 'optional' },
  { ...route, name: 'passing', path: '/passing', forwardCredentials: true },
  { ...route, name: 'open-passing', path: '/open-passing', auth: 'none', forwardCredentials: true },
]

t.test('headers between client and gateway alone never reach the backend', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  const created = await gateway.createAccount()
  const { JwtToken, RefreshToken } = await gateway.tokens(created)
  const key = `SecretKey: ${created.secretKey}`
  const token = `Authorization: Bearer ${JwtToken}`
  const seen = async (line: string, headers: readonly string[], body?: string) => {
    t.equal((await ask(t, gateway.url, line, headers, body)).status, 200, line)
    return backend.last().headers
  }

  t.test('credentials are dropped after they were checked', async (t) => {
    for (const path of ['/any', '/optional']) {
      for (const credential of [key, token]) {
        const headers = await seen(`GET ${path}`, [credential])
        t.match(headers, { secretkey: undefined, authorization: undefined })
      }
    }
  })

  t.test(
    "an unauthenticated request's Authorization reaches the backend, its SecretKey does not",
    async (t) => {
      t.equal((await seen('GET /open', [token])).authorization, `Bearer ${JwtToken}`)
      t.equal((await seen('GET /open', ['Authorization: Basic dTpw'])).authorization, 'Basic dTpw')
      t.equal((await seen('GET /optional', ['Authorization: Basic dTpw'])).authorization, 'Basic dTpw')
      t.notOk('secretkey' in (await seen('GET /open', [key])))
      t.notOk('secretkey' in (await seen('GET /open', ['secretKEY: x'])))
    },
  )

  t.test('forwardCredentials passes both credentials as sent', async (t) => {
    t.equal((await seen('GET /passing', [key])).secretkey, created.secretKey)
    t.equal((await seen('GET /passing', [token])).authorization, `Bearer ${JwtToken}`)
    t.equal((await seen('GET /open-passing', [key])).secretkey, created.secretKey)
  })

  t.test('the refresh cookie is never forwarded, other cookies always are', async (t) => {
    const secret = `refreshToken=${RefreshToken}`
    for (const path of ['/open', '/open-passing', '/optional']) {
      for (const [lines, expected] of [
        [[`Cookie: ${secret}`], undefined],
        [[`Cookie: a=1; ${secret}; b=2`], 'a=1; b=2'],
        [[`Cookie: ${secret}; a=1`], 'a=1'],
        [[`Cookie: a=1;${secret}`], 'a=1'],
        [[`Cookie: ${secret}; ${secret}`], undefined],
        [[`Cookie: a=1; refreshToken =${RefreshToken}`], 'a=1'],
        [['Cookie: a=1', `Cookie: ${secret}`, 'Cookie: b=2'], 'a=1; b=2'],
        [
          ['Cookie: refreshTokens=1; xrefreshToken=2; refreshtoken=3'],
          'refreshTokens=1; xrefreshToken=2; refreshtoken=3',
        ],
        [['Cookie: a="x; y"; b'], 'a="x; y"; b'],
      ] as const) {
        const { cookie } = await seen(`GET ${path}`, [...lines])
        t.equal(cookie, expected, `${lines.join('|').replaceAll(RefreshToken, '…')}`)
      }
    }
  })

  t.test('hop-by-hop headers end at the gateway, on both sides', async (t) => {
    const hops = [
      'Connection: keep-alive, X-Hop',
      'X-Hop: 1',
      'Keep-Alive: timeout=9',
      'TE: gzip',
      'Proxy-Connection: keep-alive',
      'Proxy-Authorization: Basic x',
      'Proxy-Authenticate: Basic',
      'Upgrade: h2c',
    ]
    const headers = await seen('POST /open', [...hops, 'X-Stays: 1'], 'body')
    const names = ['x-hop', 'keep-alive', 'te', 'proxy-connection', 'proxy-authorization', 'upgrade']
    for (const name of [...names, 'proxy-authenticate']) t.notOk(name in headers, name)
    t.equal(headers['x-stays'], '1')
    t.notMatch(headers.connection, /hop/i)

    const canned = await startCannedBackend(
      t,
      [
        'HTTP/1.1 200 OK',
        'Connection: keep-alive, X-Inner',
        'X-Inner: 1',
        'Keep-Alive: timeout=99, max=7',
        'Proxy-Authenticate: Basic',
        'Upgrade: h2c',
        'X-Stays: 1',
        'Content-Length: 0',
        '',
        '',
      ].join('\r\n'),
    )
    const other = await startGateway(t, { backend: canned })
    const response = await ask(t, other.url, 'GET /public')
    t.equal(response.headers['x-stays'], '1')
    for (const name of ['x-inner', 'proxy-authenticate', 'upgrade']) t.notOk(name in response.headers, name)
    t.notMatch(response.headers['keep-alive'], /99|max/)
  })

  t.test('end-to-end headers pass unchanged in name, order and number', async (t) => {
    const sent = [
      'X-One: 1',
      'x-two: 2',
      'X-ONE: 3',
      'Accept: */*',
      'User-Agent:',
      'X-Latin: caf\xe9',
      'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'tracestate: a=b',
      'Range: bytes=0-1',
      'If-None-Match: "x"',
      'Origin: null',
      'X-User-Agent: mine',
      'DNT: 1',
    ]
    await ask(t, gateway.url, 'GET /open', sent)
    const { rawHeaders } = backend.last()
    const lines = rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : [],
    )
    t.strictSame(
      lines.filter((line) => !/^(host|x-forwarded-|x-request-id|connection)/i.test(line)),
      sent.map((line) => (line.endsWith(':') ? `${line} ` : line)),
    )
  })
})

t.test('the refresh cookie is stripped under its configured name', async (t) => {
  const cookie = { name: 'rt', path: '/' }
  const { backend, gateway } = await startBoth(t, { config: { cookie } })
  await ask(t, gateway.url, 'GET /public', ['Cookie: rt=secret; refreshToken=other'])
  t.equal(backend.last().headers.cookie, 'refreshToken=other')
})
