import t from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { connectRaw, type RawResponse } from '../setup/raw-client.ts'
import { accessTokenPath, ask, refreshTokenPath, revokeTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const paths = [accessTokenPath, refreshTokenPath, revokeTokenPath]
const json = 'Content-Type: application/json'
const text = 'Content-Type: text/plain'

interface Announced {
  readonly what: string
  readonly lines: readonly string[]
  readonly refusal: { readonly status: number; readonly code: string }
}

const unsupported = { status: 415, code: 'media-type-unsupported' }

/** What the head alone is enough to refuse. */
const announced: readonly Announced[] = [
  { what: 'another type', lines: [text, 'Content-Length: 2'], refusal: unsupported },
  { what: 'another type, chunked', lines: [text, 'Transfer-Encoding: chunked'], refusal: unsupported },
  { what: 'no type', lines: ['Content-Length: 2'], refusal: unsupported },
  { what: 'a coding', lines: [json, 'Content-Encoding: gzip', 'Content-Length: 2'], refusal: unsupported },
  {
    what: 'two types',
    lines: [json, text, 'Content-Length: 2'],
    refusal: { status: 400, code: 'request-invalid' },
  },
  {
    what: 'a byte too many',
    lines: [json, 'Content-Length: 65537'],
    refusal: { status: 413, code: 'body-too-large' },
  },
]

t.test('a token request whose head is unacceptable is refused without a 100 Continue', async (t) => {
  const gateway = await startGateway(t)
  for (const path of paths) {
    for (const { what, lines, refusal } of announced) {
      const client = await connectRaw(t, gateway.url)
      const head = [`POST ${path} HTTP/1.1`, 'Host: x', 'Expect: 100-continue', ...lines]
      client.send(`${head.join('\r\n')}\r\n\r\n`)
      const response = await client.response()
      t.equal(response.status, refusal.status, `${what} at ${path}: no 100 comes first`)
      assertProblem(t, response, refusal)
      await client.ended()
      t.equal(client.isEnded, true, 'nothing comes behind the answer')
    }
  }
})

t.test('an acceptable token request gets its 100 Continue, up to the largest body', async (t) => {
  const gateway = await startGateway(t)
  for (const length of [2, 65_536]) {
    const client = await connectRaw(t, gateway.url)
    const head = [`POST ${accessTokenPath} HTTP/1.1`, 'Host: x', 'Expect: 100-continue', json]
    client.send(`${[...head, `Content-Length: ${length}`].join('\r\n')}\r\n\r\n`)
    t.equal((await client.response()).status, 100)
    client.send('{}'.padEnd(length))
    assertProblem(t, await client.response(), { status: 400, code: 'request-invalid' })
  }
})

t.test('no 100 Continue is sent to a client that is not waiting for it', async (t) => {
  const gateway = await startGateway(t)
  const invalid = { status: 400, code: 'request-invalid' }
  const headOf = (version: string, length: number) =>
    [`POST ${accessTokenPath} HTTP/${version}`, 'Host: x', 'Expect: 100-continue', json]
      .concat(`Content-Length: ${length}`, 'Connection: keep-alive', '', '')
      .join('\r\n')

  t.test('an Expect in HTTP/1.0 gets no 100', async (t) => {
    const client = await connectRaw(t, gateway.url)
    client.send(headOf('1.0', 2))
    // In two parts, to leave time for what must not come.
    client.send('{')
    await t.resolves(fetch(`${gateway.opsUrl}/livez`))
    client.send('}')
    assertProblem(t, await client.response(), invalid)
  })

  t.test('a body already begun gets no 100', async (t) => {
    const whole = await connectRaw(t, gateway.url)
    whole.send(`${headOf('1.1', 2)}{}`)
    assertProblem(t, await whole.response(), invalid)
    const begun = await connectRaw(t, gateway.url)
    begun.send(`${headOf('1.1', 2)}{`)
    await t.resolves(fetch(`${gateway.opsUrl}/livez`))
    begun.send('}')
    assertProblem(t, await begun.response(), invalid)
  })

  t.test('a request without a body gets no 100', async (t) => {
    const client = await connectRaw(t, gateway.url)
    client.send(headOf('1.1', 0))
    assertProblem(t, await client.response(), invalid)
  })
})

t.test('differing Content-Types are refused in either order; the same one twice is taken', async (t) => {
  const gateway = await startGateway(t)
  const account = await gateway.createAccount()
  const body = JSON.stringify({ SecretKey: account.secretKey, APIKey: account.apiKey })
  const send = (...lines: string[]) => ask(t, gateway.url, `POST ${accessTokenPath}`, lines, body)
  for (const lines of [
    [json, text],
    [text, json],
    [json, 'content-type: application/json; charset=utf-8'],
    [json, json, text],
    [json, 'Content-Type:'],
  ]) {
    const response = await send(...lines)
    assertProblem(t, response, { status: 400, code: 'request-invalid' })
    t.strictSame(errorsOf(response), [
      { field: 'Content-Type', message: 'was sent more than once, with different values' },
    ])
  }
  t.equal((await send(json, json)).status, 200)
  t.equal((await send(json, `${json} `)).status, 200, 'space around it is no part of it')
})

t.test('every request-invalid error names what is wrong', async (t) => {
  const gateway = await startGateway(t)
  const notObject = { field: 'body', message: 'must be a JSON object' }
  const notJson = { field: 'body', message: 'is not valid UTF-8 JSON' }
  const cases: readonly (readonly [body: string | Buffer, errors: readonly object[]])[] = [
    ['{', [notJson]],
    ['token=x', [notJson]],
    [Buffer.from('{"token":"\xff"}', 'latin1'), [notJson]],
    ['[]', [notObject]],
    ['1', [notObject]],
    ['"x"', [notObject]],
    ['null', [notObject]],
    ['{"token":1}', [{ field: 'token', message: 'must be a non-empty string' }]],
    ['', [{ field: 'token', message: 'is missing, and so is the cookie' }]],
  ]
  for (const path of [refreshTokenPath, revokeTokenPath]) {
    for (const [body, errors] of cases) {
      const response = await ask(t, gateway.url, `POST ${path}`, [json], body)
      assertProblem(t, response, { status: 400, code: 'request-invalid' })
      t.strictSame(errorsOf(response), errors, `${String(body)} at ${path}`)
    }
  }
  const nowhere = await ask(t, gateway.url, 'GET /public', ['Host: two.test'])
  t.strictSame(errorsOf(nowhere), [{ field: 'Host', message: 'was sent more than once' }])
  const broken = await ask(t, gateway.url, 'GET /public', ['Bad name: x'])
  assertProblem(t, broken, { status: 400, code: 'request-invalid' })
  t.match(errorsOf(broken), [{ field: 'field-line', message: /.+/ }])
})

t.test('an endpoint that reads no body accepts any', async (t) => {
  const gateway = await startGateway(t)
  const response = await ask(t, gateway.url, 'GET /.well-known/jwks.json', [json, text], 'abc')
  t.equal(response.status, 200)
})

function errorsOf(response: RawResponse): unknown {
  return response.json().errors
}

t.test('the body of a token request stays intact while others are read', async (t) => {
  const gateway = await startGateway(t)
  const { secretKey, apiKey } = await gateway.createAccount()
  const body = JSON.stringify({ SecretKey: secretKey, APIKey: apiKey })
  const [client, other] = [await connectRaw(t, gateway.url), await connectRaw(t, gateway.url)]
  const head = [`POST ${accessTokenPath} HTTP/1.1`, 'Host: x', json, `Content-Length: ${body.length}`]
  client.send(`${head.join('\r\n')}\r\n\r\n`)
  for (const piece of body.match(/.{1,8}/g) ?? []) {
    client.send(piece)
    other.send(`GET /${'~'.repeat(12_000)} HTTP/1.1\r\nHost: x\r\n\r\n`)
    t.equal((await other.response()).status, 404)
  }
  t.equal((await client.response()).status, 200)
})
