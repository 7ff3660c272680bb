import t from 'tap'
import { startIntrospecting } from '../gateway/support/introspecting.ts'
import { exchange, head, headLengthMax, lineOf, requestBytes, tryAll } from './support/cost.ts'
import { startWithAll } from './support/gateway-with-all.ts'
import { hasHttp2Answer, http2RequestBytes } from './support/http2-bytes.ts'

/** All that the gateway reads, and one that it does not know; some with the beginning of a value. */
const fields: readonly string[] = [
  ...[
    'Host',
    'Authorization',
    'Authorization: Bearer ',
    'Authorization: Bearer eyJ',
    'Authorization: Basic ',
  ],
  ...[
    'Proxy-Authorization',
    'SecretKey',
    'X-Api-Key',
    'X-Api-Key: gate_sk_',
    'Cookie',
    'Cookie: accessToken=',
  ],
  ...[
    'Cookie: __Host-gatehouse',
    'Connection',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Upgrade',
    'Transfer-Encoding',
  ],
  ...[
    'Content-Length',
    'Content-Type',
    'Content-Encoding',
    'Expect',
    'X-Request-Id',
    'X-Forwarded-For',
    'Forwarded',
  ],
  ...[
    'X-Forwarded-Proto',
    'X-Forwarded-Host',
    'X-Forwarded-Prefix',
    'Destination',
    'Destination: http://gateway.test/',
  ],
  ...['If', 'New-URI', 'Max-Forwards', 'Range', 'Origin', 'Referer', 'Access-Control-Request-Headers'],
  ...[
    'Access-Control-Request-Method',
    'Sec-Fetch-Site',
    'Accept',
    'Accept: text/html',
    'Accept-Encoding',
    'User-Agent',
  ],
  ...['If-None-Match', 'Cache-Control', 'Traceparent', 'Tracestate', 'Service-Worker', 'Sec-WebSocket-Key'],
  ...['X-User-Id', 'X_User_Role', 'X-HTTP-Method-Override', 'Proxy', 'X-Any'],
  ...['DPoP', 'Client-Cert', 'X-Forwarded-Client-Cert'],
]

const visit = ['Accept: text/html', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document']

t.test('no field keeps the event loop for long, whatever it repeats', async (t) => {
  const { url } = await startWithAll(t)
  const hosts = {
    'GET /public': 'gateway.test',
    'GET /browser': 'gateway.test',
    'GET /portal/sign-in': 'portal.test',
  }
  for (const [line, host] of Object.entries(hosts))
    await tryAll(t, fields, head, (field, text) => {
      const lines = field === 'Host' ? [] : [`Host: ${host}`]
      return exchange(url, requestBytes([`${line} HTTP/1.1`, ...lines, ...visit, lineOf(field, text)]))
    })
  const further = {
    'OPTIONS /any': ['Origin: https://app.example.com', 'Access-Control-Request-Method: GET'],
    'GET /stripped': ['Destination: /stripped/other'],
    'GET /sockets': ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  }
  const authorizations = fields.filter((field) => field.startsWith('Authorization'))
  await tryAll(t, authorizations, head, (field, text) =>
    exchange(url, requestBytes(['GET /left HTTP/1.1', 'Host: gateway.test', lineOf(field, text)])),
  )
  const names = [
    'Access-Control-Request-Headers',
    'If: </stripped',
    'Connection',
    'Sec-WebSocket-Protocol',
    'X-Forwarded-Prefix: /',
  ]
  for (const [line, lines] of Object.entries(further))
    await tryAll(t, names, head, (field, text) =>
      exchange(url, requestBytes([`${line} HTTP/1.1`, 'Host: gateway.test', ...lines, lineOf(field, text)])),
    )
})

const targets: readonly string[] = [
  ...[
    '/public/',
    '/public?',
    '/public?a=',
    '/stripped/',
    '/slashes/',
    '/any/',
    '/browser/',
    '/browser?a=',
    '/other/',
  ],
  ...[
    'http://',
    'http://gateway.test/',
    '/api/v1/accounts/usage?',
    '/api/v1/admin/accounts/',
    '/api/v1/admin/accounts?q=',
  ],
  ...['/.well-known/oauth-protected-resource/', '/', ''],
  ...[
    '/api/v1/issuers/corp/authorize?',
    '/api/v1/issuers/corp/authorize?client_id=mcp&redirect_uri=',
    '/api/v1/issuers/corp/authorize?client_id=mcp&redirect_uri=http://localhost/callback&response_type=',
    '/api/v1/issuers/corp/callback?state=',
    '/api/v1/issuers/corp/callback?state=WyJodHRwOi8vbG9jYWxob3N0L2NhbGxiYWNrIiwiIl0&iss=http://127.0.0.1:1&code=',
  ],
]
const portalTargets = [
  '/portal/',
  '/portal/sign-in?next=',
  '/portal/sign-in?next=/',
  '/portal/accounts/',
  '/portal/setup?',
  '/portal/assets/',
]

t.test('no token keeps the event loop for long that an issuer may have to be asked about', async (t) => {
  const keys = { sealingKey: { file: 'sealing.key' }, accept: ['bearer'] }
  const { gateway } = await startIntrospecting(t, {}, { keys })
  const tokens = ['', 'eyJ', 'eyJ.eyJ', 'eyJhbGciOiJSU0EifQ.a.b.c.'].map(
    (start) => `Authorization: Bearer ${start}`,
  )
  for (const path of ['/orders', '/any'])
    await tryAll(t, tokens, head, (field, text) =>
      exchange(gateway.url, requestBytes([`GET ${path} HTTP/1.1`, 'Host: a', lineOf(field, text)])),
    )
})

t.test('no target keeps the event loop for long', async (t) => {
  const { url } = await startWithAll(t)
  for (const [host, some] of [
    ['gateway.test', targets],
    ['portal.test', portalTargets],
  ] as const)
    await tryAll(t, some, head, (target, text) =>
      exchange(url, requestBytes([`GET ${target}${text} HTTP/1.1`, `Host: ${host}`, ...visit])),
    )
})

t.test(
  'no method, version or name of a field keeps the event loop for long, and no number of fields',
  async (t) => {
    const { url } = await startWithAll(t)
    const heads: Readonly<Record<string, (text: string) => readonly string[]>> = {
      method: (text) => [`${text} /public HTTP/1.1`, 'Host: gateway.test'],
      version: (text) => [`GET /public HTTP/1.1${text}`, 'Host: gateway.test'],
      'name of a field': (text) => ['GET /public HTTP/1.1', 'Host: gateway.test', `${text}: a`],
      'names of fields': (text) => [
        'GET /browser HTTP/1.1',
        'Host: gateway.test',
        ...parts(text).map((part) => `${part}: a`),
      ],
    }
    await tryAll(t, Object.keys(heads), { length: headLengthMax / 2 }, (name, text) =>
      exchange(url, requestBytes(heads[name]?.(text) ?? [])),
    )
    await tryAll(t, fields, head, (field, text) => {
      const lines = parts(text.slice(0, text.length / (1 + field.length / 4))).map((part) =>
        lineOf(field, part),
      )
      return exchange(url, requestBytes(['GET /browser HTTP/1.1', 'Host: gateway.test', ...visit, ...lines]))
    })
  },
)

/** Pieces of a text, of a few characters each. */
function parts(text: string): readonly string[] {
  return text.match(/[^\r\n]{1,4}/g) ?? []
}

t.test('no field keeps the event loop for long over HTTP/2', async (t) => {
  const { url } = await startWithAll(t)
  const request = { ':method': 'GET', ':path': '/browser', ':scheme': 'http', ':authority': 'gateway.test' }
  const names = [
    ...Object.keys(request),
    ':protocol',
    'host',
    'cookie',
    'te',
    'content-length',
    'x-any',
    'accept',
  ]
  await tryAll(t, names, head, (name, text) => {
    const sent = Object.entries({ ...request, [name]: text })
    return exchange(url, http2RequestBytes(sent.toSorted(pseudoFirst)), hasHttp2Answer)
  })
  await tryAll(t, ['cookie', 'sec-websocket-key', 'x-any'], { length: headLengthMax / 9 }, (name, text) => {
    const further = parts(text).map((part) => [name, part] as const)
    return exchange(url, http2RequestBytes([...Object.entries(request), ...further]), hasHttp2Answer)
  })
})

function pseudoFirst([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return Number(other.startsWith(':')) - Number(one.startsWith(':'))
}
