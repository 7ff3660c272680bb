import { once } from 'node:events'
import { constants } from 'node:http2'
import t, { type Test } from 'tap'
import { readMetrics } from '../../gateway/support/metrics.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { ask as askHttp2, connectHttp2 } from './ask.ts'

/** What the gateway answers itself has to be the same over HTTP/2 as over HTTP/1.1. */

const host = 'gateway.test'
const accessToken = '/api/v1/accounts/access-token'
const refreshToken = '/api/v1/accounts/refresh-token'
const json = ['content-type', 'application/json'] as const

interface Request {
  readonly line: string
  readonly fields?: readonly (readonly [name: string, value: string])[]
  readonly body?: string
  /** Whether its length is not said. */
  readonly isUnmeasured?: boolean
}

interface Answer {
  readonly status: number
  readonly informational: readonly number[]
  readonly fields: Readonly<Record<string, string>>
  readonly body: string
}

async function askHttp1(t: Test, url: string, request: Request): Promise<Answer> {
  const { line, fields = [], body, isUnmeasured } = request
  const client = await connectRaw(t, url)
  const lengths = isUnmeasured ? ['Transfer-Encoding: chunked'] : [`Content-Length: ${body?.length}`]
  const lines = [
    ...[`${line} HTTP/1.1`, `Host: ${host}`],
    ...fields.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : lengths),
  ]
  const isHead = line.startsWith('HEAD')
  client.send(`${lines.join('\r\n')}\r\n\r\n`)
  const informational: number[] = []
  // A body that is expected to be waited for is sent when it is asked for.
  const isExpecting = fields.some(([name]) => name === 'expect')
  const send = () => {
    if (body === undefined) return
    client.send(isUnmeasured ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body)
  }
  if (!isExpecting) send()
  let answer = await client.response(isHead)
  for (; answer.status < 200; answer = await client.response(isHead)) {
    informational.push(answer.status)
    send()
  }
  client.close()
  // Values of one name joined as node:http2 does.
  const fieldsOf1 = Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, value.replaceAll('\n', ', ')]),
  )
  return { status: answer.status, informational, fields: fieldsOf1, body: answer.body }
}

async function askBoth(t: Test, url: string, first: Request, second = first): Promise<readonly Answer[]> {
  const session = await connectHttp2(t, url)
  const { line, fields = [], body, isUnmeasured = false } = second
  const [method = '', path = ''] = line.split(' ')
  const answer = await askHttp2(session, path, {
    headers: {
      ':method': method,
      ':authority': host,
      ...Object.fromEntries(fields),
      ...(body !== undefined && !isUnmeasured && { 'content-length': body.length }),
    },
    ...(body !== undefined && { body }),
  })
  const { status, headers, informational } = answer
  const fieldsOf2 = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().join()]),
  )
  return [await askHttp1(t, url, first), { status, informational, fields: fieldsOf2, body: answer.body }].map(
    withoutChance,
  )
}

/** Of connections, and of one answer only. */
const ownFields = ['connection', 'keep-alive', 'date', 'x-request-id', 'transfer-encoding']

/** What differs between two answers to the same request is replaced. */
function withoutChance({ fields, body, ...rest }: Answer): Answer {
  const id = fields['x-request-id'] ?? ''
  const masked = (text: string) =>
    text
      .replaceAll(id === '' ? '\0' : id, 'ID')
      .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'JWT')
      .replaceAll(/("refreshToken":)"[^"]+"/gi, '$1"TOKEN"')
      .replaceAll(/(name="csrf" value=)"[^"]+"/g, '$1"TOKEN"')
      .replaceAll(/^([\w-]+)=[^;]*;/gm, '$1=COOKIE;')
      .replaceAll(/nonce[-=]"?[\w+/=-]+/g, 'NONCE')
  const kept = Object.entries(fields).filter(([name]) => !ownFields.includes(name))
  return {
    ...rest,
    fields: Object.fromEntries(kept.toSorted().map(([name, value]) => [name, masked(value)])),
    body: masked(body),
  }
}

t.test('the gateway answers the same over HTTP/2 as over HTTP/1.1', async (t) => {
  const gateway = await startGateway(t)
  const account = await gateway.createAccount()
  const pair = JSON.stringify({ SecretKey: account.secretKey, APIKey: account.apiKey })
  const page = await (await fetch(`${gateway.url}/portal/sign-in`)).text()
  const asset = /(?:href|src)="(\/portal\/assets\/[^"]+)"/.exec(page)?.[1] ?? ''
  t.match(asset, /assets/)
  const bearer = async () => `Bearer ${(await gateway.tokens(account)).JwtToken}`
  const requests: readonly (readonly [name: string, status: number, request: Request])[] = [
    ['tokens for keys', 200, { line: `POST ${accessToken}`, fields: [json], body: pair }],
    [
      'a body of unknown length',
      200,
      { line: `POST ${accessToken}`, fields: [json], body: pair, isUnmeasured: true },
    ],
    ['wrong keys', 401, { line: `POST ${accessToken}`, fields: [json], body: pair.replace('gate', 'gat') }],
    ['malformed JSON', 400, { line: `POST ${accessToken}`, fields: [json], body: '{"SecretKey":' }],
    ['JSON that is something else', 400, { line: `POST ${accessToken}`, fields: [json], body: '[]' }],
    ['no body', 400, { line: `POST ${accessToken}`, fields: [json] }],
    ['another type', 415, { line: `POST ${accessToken}`, fields: [['content-type', 'text/csv']], body: 'a' }],
    [
      'a body that is too large',
      413,
      { line: `POST ${accessToken}`, fields: [json], body: `"${'x'.repeat(200_000)}"` },
    ],
    [
      'a body that is too large, of unknown length',
      413,
      { line: `POST ${accessToken}`, fields: [json], body: `"${'x'.repeat(200_000)}"`, isUnmeasured: true },
    ],
    [
      'a body that is waited for',
      200,
      { line: `POST ${accessToken}`, fields: [json, ['expect', '100-continue']], body: pair },
    ],
    ['no cookie to refresh', 400, { line: `POST ${refreshToken}` }],
    ['a method that a path does not have', 405, { line: `DELETE ${accessToken}` }],
    ['the public keys', 200, { line: 'GET /.well-known/jwks.json' }],
    ['the head of the public keys', 200, { line: 'HEAD /.well-known/jwks.json' }],
    ['the OpenAPI document', 200, { line: 'GET /api/v1/openapi.json' }],
    ['a path that nobody has', 404, { line: 'GET /api/v1/nothing' }],
    ['a page that the portal does not have', 404, { line: 'GET /portal/nothing' }],
    ['its head', 404, { line: 'HEAD /portal/nothing' }],
    ['usage without a token', 401, { line: 'GET /api/v1/accounts/usage' }],
    [
      'usage with a token',
      200,
      { line: 'GET /api/v1/accounts/usage', fields: [['authorization', await bearer()]] },
    ],
    [
      'the admin API as a user',
      403,
      { line: 'GET /api/v1/admin/accounts', fields: [['authorization', await bearer()]] },
    ],
    ['the page to sign in', 200, { line: 'GET /portal/sign-in' }],
    ['its head', 200, { line: 'HEAD /portal/sign-in' }],
    ['a page without having signed in', 401, { line: 'GET /portal/profile' }],
    ['an asset', 200, { line: `GET ${asset}` }],
    ['the head of an asset', 200, { line: `HEAD ${asset}` }],
    [
      'a form that is sent from elsewhere',
      403,
      {
        line: 'POST /portal/sign-in',
        fields: [
          ['content-type', 'application/x-www-form-urlencoded'],
          ['origin', 'https://evil.example'],
        ],
        body: 'email=a',
      },
    ],
    ['a preflight', 405, { line: `OPTIONS ${accessToken}` }],
  ]
  for (const [name, status, request] of requests) {
    const [http1, http2] = await askBoth(t, gateway.url, request)
    t.strictSame(http2, http1, `${name}: ${http2?.status}, ${http2?.body.length} bytes`)
    t.equal(http2?.status, status, name)
  }
})

t.test('a refresh token in a cookie is exchanged over HTTP/2 as over HTTP/1.1', async (t) => {
  const gateway = await startGateway(t)
  const account = await gateway.createAccount()
  const [one, other] = [await gateway.tokens(account), await gateway.tokens(account)]
  const request = (token: string): Request => ({
    line: `POST ${refreshToken}`,
    fields: [['cookie', `a=b; refreshToken=${token}`]],
  })
  const [http1, http2] = await askBoth(t, gateway.url, request(one.RefreshToken), request(other.RefreshToken))
  t.strictSame(http2, http1)
  t.equal(http2?.status, 200)
  t.match(http2?.fields['set-cookie'], /^refreshToken=COOKIE;.*HttpOnly/)
})

t.test('a client may go away while the gateway answers it', async (t) => {
  const gateway = await startGateway(t)
  const session = await connectHttp2(t, gateway.url, undefined, { initialWindowSize: 1 })
  const inFlight = async () => (await readMetrics(gateway.opsUrl)).value('gatehouse_http_requests_in_flight')
  const lines = () =>
    gateway.logLines.filter((line) => line.includes('/api/v1/')).map((line) => JSON.parse(line))
  for (let count = 0; count < 5; count++) {
    const stream = session.request({ ':path': '/api/v1/openapi.json', ':authority': host })
    stream.on('error', () => {})
    await once(stream, 'response')
    stream.close(constants.NGHTTP2_CANCEL)
  }
  const upload = session.request({ ':path': accessToken, ':method': 'POST', [json[0]]: json[1] })
  upload.on('error', () => {})
  upload.write('{"SecretKey":')
  await until('it is being read', async () => (await inFlight()) > 0)
  upload.close(constants.NGHTTP2_CANCEL)
  await until('none is counted', async () => (await inFlight()) === 0)
  await until('each has its line', () => lines().length === 6)
  t.strictSame(
    lines().map(({ isComplete }) => isComplete),
    Array.from({ length: 6 }, () => false),
  )
  const other = await connectHttp2(t, gateway.url)
  t.equal((await askHttp2(other, '/api/v1/openapi.json', { headers: { ':authority': host } })).status, 200)
  t.notOk(gateway.logLines.some((line) => line.includes('"level":"error"') || line.includes('"level":50')))
})
