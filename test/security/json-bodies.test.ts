import t from 'tap'
import { accessTokenPath, ask, refreshTokenPath, revokeTokenPath } from '../gateway/support/ask.ts'
import { startGateway } from '../setup/gateway.ts'

const json = ['Content-Type: application/json']
const paths = [accessTokenPath, refreshTokenPath, revokeTokenPath]

/** Bodies that are no object with the members that are wanted. */
const invalid: Readonly<Record<string, string | Buffer>> = {
  'a number': '1',
  'a text': '"x"',
  null: 'null',
  true: 'true',
  'a list': '[]',
  'a list of what is wanted': '[{"SecretKey":"a","APIKey":"b","token":"c"}]',
  'an open brace': '{',
  'a comma too many': '{"token":"x",}',
  'a comment': '{"token":"x"/**/}',
  'single quotes': "{'token':'x'}",
  'two values': '{"token":"x"}{"token":"y"}',
  'something behind': '{"token":"x"} x',
  NaN: '{"token":NaN}',
  'a form': 'token=x',
  'only space': '   ',
  'a zero byte': '\u0000',
  'a control character in a text': '{"token":"\u0001","SecretKey":"\u0001","APIKey":"\u0001"}',
  '30 000 lists': '['.repeat(30_000) + ']'.repeat(30_000),
  '30 000 lists, open': '['.repeat(60_000),
  '6 000 objects': `${'{"token":'.repeat(6_000)}1${'}'.repeat(6_000)}`,
  '__proto__ alone': '{"__proto__":{"token":"x","SecretKey":"a","APIKey":"b"}}',
  '__proto__ escaped': '{"\\u005f_proto__":{"token":"x","SecretKey":"a","APIKey":"b"}}',
  'constructor.prototype': '{"constructor":{"prototype":{"token":"x","SecretKey":"a","APIKey":"b"}}}',
  'wrong types': '{"token":1,"SecretKey":{},"APIKey":[]}',
  nulls: '{"token":null,"SecretKey":null,"APIKey":null}',
  'lists of texts': '{"token":["x"],"SecretKey":["a"],"APIKey":["b"]}',
  'empty texts': '{"token":"","SecretKey":"","APIKey":""}',
  'invalid UTF-8 in a name': Buffer.from('{"\xfftoken":"x"', 'latin1'),
  'UTF-16': Buffer.from('\ufeff{"token":"x","SecretKey":"a","APIKey":"b"}', 'utf16le'),
}

t.test('any unexpected JSON body is 400', async (t) => {
  const gateway = await startGateway(t)
  for (const path of paths) {
    for (const [name, body] of Object.entries(invalid)) {
      const response = await ask(t, gateway.url, `POST ${path}`, json, body)
      t.equal(response.status, 400, `${name} at ${path}`)
      t.equal(response.json().code, 'request-invalid', name)
      t.notMatch(response.body, /Unexpected|position|SyntaxError|JSON at|\.js|\.ts/)
    }
  }
  t.notOk('polluted' in {}, 'no prototype has changed')
})

t.test('JSON that is not UTF-8 is 400', async (t) => {
  const gateway = await startGateway(t)
  for (const bytes of ['\xff', '\xc3\x28', '\xe2\x82', '\xed\xa0\x80', '\xc0\xaf']) {
    const text = `{"token":"grt_${bytes}"}`
    const line = `POST ${refreshTokenPath}`
    const counted = await ask(t, gateway.url, line, json, Buffer.from(text, 'latin1'))
    const chunks = ['Transfer-Encoding: chunked', '', text.length.toString(16), text, '0']
    const chunked = await ask(t, gateway.url, line, [...json, ...chunks])
    t.strictSame([counted.status, chunked.status], [400, 400], JSON.stringify(bytes))
  }
})

t.test('unusual but valid JSON is accepted', async (t) => {
  const gateway = await startGateway(t)
  const account = await gateway.createAccount()
  const [key, apiKey] = [account.secretKey, account.apiKey]
  for (const body of [
    ` \r\n\t{ "SecretKey" : "${key}" , "APIKey" : "${apiKey}" } \n`,
    `{"SecretKey":"${key}","APIKey":"${apiKey}","token":1,"more":{"deep":[1,{"x":null}]}}`,
    `{"\\u0053ecretKey":"${key.replace('g', '\\u0067')}","APIKey":"${apiKey}"}`,
  ])
    t.equal((await ask(t, gateway.url, `POST ${accessTokenPath}`, json, body)).status, 200, body.slice(0, 30))
})

t.test('members named as those of prototypes are ignored as other unknown members are', async (t) => {
  const gateway = await startGateway(t)
  const { secretKey, apiKey } = await gateway.createAccount()
  const keys = `"SecretKey":"${secretKey}","APIKey":"${apiKey}"`
  for (const member of [
    '"__proto__":{"polluted":true}',
    '"\\u005f_proto__":{"polluted":true}',
    '"__proto__":null',
    '"__proto__":{"SecretKey":"other"}',
    '"constructor":{"prototype":{"polluted":true}}',
    '"constructor":"x"',
    '"more":{"__proto__":{"polluted":true}}',
  ])
    for (const body of [`{${keys},${member}}`, `{${member},${keys}}`])
      t.equal((await ask(t, gateway.url, `POST ${accessTokenPath}`, json, body)).status, 200, member)
  t.notOk('polluted' in {}, 'no prototype has changed')
})

/** Bodies with two members of one name, and which. */
const duplicates: readonly (readonly [body: string, field: string])[] = [
  ['{"role":"User","role":"Admin"}', 'role'],
  ['{"role":"User","role":"User"}', 'role'],
  ['{"role":"User","r\\u006fle":"Admin"}', 'role'],
  ['{"r\\u006Fle":"User" , "role"\n:"Admin"}', 'role'],
  ['{"token":"x","token":null}', 'token'],
  ['{"more":{"a":1,"b":{"a":1},"a":2}}', 'more.a'],
  ['{"more":[[],{"a":1},{"b":[{"c":1,"c":2}]}]}', 'more.2.b.0.c'],
  ['{"__proto__":1,"\\u005f_proto__":2}', '__proto__'],
  ['{"":1,"":2}', ''],
  ['{"\\"":1,"\\u0022":2}', '"'],
]

t.test('a JSON body with two members of one name is 400 at every endpoint that reads one', async (t) => {
  const gateway = await startGateway(t)
  const { JwtToken } = await gateway.tokens(await gateway.createAccount({ role: 'Admin' }))
  const { paths } = (await ask(t, gateway.url, 'GET /api/v1/openapi.json')).json() as {
    readonly paths: Readonly<
      Record<string, Readonly<Record<string, { readonly requestBody?: { readonly content: object } }>>>
    >
  }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) =>
      requestBody && 'application/json' in requestBody.content
        ? [`${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, 'x')}`]
        : [],
    ),
  )
  t.ok(operations.length >= 10, `${operations.length} operations`)
  for (const operation of operations)
    for (const [body, field] of duplicates) {
      const authorization = `Authorization: Bearer ${JwtToken}`
      const response = await ask(t, gateway.url, operation, [...json, authorization], body)
      t.equal(response.status, 400, `${operation} ${body}`)
      t.match(response.json(), {
        code: 'request-invalid',
        errors: [{ field, message: 'appears more than once' }],
      })
    }
})

t.test('a secret that is a member of a JSON body twice is not shown', async (t) => {
  const gateway = await startGateway(t)
  const { secretKey } = await gateway.createAccount()
  const body = `{"${secretKey}":1,"${secretKey}":2}`
  const response = await ask(t, gateway.url, `POST ${accessTokenPath}`, json, body)
  t.equal(response.status, 400)
  t.match(response.json(), { errors: [{ field: '[secret]' }] })
  t.notOk(response.body.includes(secretKey))
})

t.test('a wrong Content-Length of a JSON body is refused or waited out', async (t) => {
  const gateway = await startGateway(t, { config: { listen: { port: 0, requestTimeout: '1s' } } })
  const short = await ask(t, gateway.url, `POST ${refreshTokenPath}`, [
    ...json,
    'Content-Length: 50',
    '',
    '{"token":"x"}',
  ])
  t.equal(short.json().code, 'request-timeout')
})
