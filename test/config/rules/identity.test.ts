import t from 'tap'
import { load, minimalConfig, problemMessages } from '../config-fixtures.ts'

const headers = (names: Readonly<Record<string, string>>) => ({
  ...minimalConfig,
  identity: { headers: names },
})

t.test('an identity header cannot take a reserved header name in any spelling', async (t) => {
  const names = [
    'Authorization',
    'SecretKey',
    'Secret-Key',
    'secret_key',
    'Cookie',
    'Set-Cookie',
    'Host',
    'Connection',
    'Keep-Alive',
    'Transfer-Encoding',
    'transfer.encoding',
    'TE',
    'Trailer',
    'Upgrade',
    'Content-Length',
    'content_length',
    'Content-Type',
    'Content-Encoding',
    'Expect',
    'Date',
    'Via',
    'Proxy-Authorization',
    'Proxy-Connection',
    'Forwarded',
    'X-Forwarded-For',
    'X_Forwarded_Proto',
    'X-Forwarded-Host',
    'X-Forwarded-Prefix',
    'X-Real-IP',
    'X-Request-Id',
    'traceparent',
    'tracestate',
  ]
  for (const name of names) {
    const message = `identity.headers.id: "${name}" is a reserved header: choose another name`
    t.strictSame(problemMessages(t, headers({ id: name })), [message])
  }
})

t.test('identity header names that differ only in case and signs are refused', async (t) => {
  t.strictSame(problemMessages(t, headers({ id: 'X-User', role: 'x_user' })), [
    'identity.headers.role: "x_user" is already the header of "id" (only letters and digits are compared): choose another name',
  ])
  t.strictSame(problemMessages(t, headers({ email: 'x.user.id' })).length, 1, 'with a default name too')
})

t.test('an identity header name must be a valid header name with letters or digits', async (t) => {
  t.strictSame(problemMessages(t, headers({ id: '---' })), [
    'identity.headers.id: must contain a letter or digit',
  ])
  for (const name of ['', 'X User', 'X:User', 'X-Üser', 'X-User\r\nX-Role', 'X'.repeat(65)]) {
    t.match(
      problemMessages(t, headers({ id: name })),
      [/^identity\.headers\.id: has an invalid format/],
      name,
    )
  }
})

t.test('any other identity header name is taken, and the others keep their defaults', async (t) => {
  const config = load(t, headers({ role: 'Caller.Role', scheme: 'X-Scheme' }))
  t.strictSame(config.identityHeaders, { id: 'X-User-Id', role: 'Caller.Role', scheme: 'X-Scheme' })
})

const assertion = (options: Readonly<Record<string, unknown>>, more = {}) => ({
  ...minimalConfig,
  ...more,
  identity: { assertion: options },
})

t.test('the assertion needs a header name of its own', async (t) => {
  t.strictSame(load(t, assertion({ enabled: true, header: 'X-Proof', lifetime: '5m' })).assertion, {
    enabled: true,
    header: 'X-Proof',
    lifetimeMs: 300_000,
  })
  t.strictSame(problemMessages(t, assertion({ header: 'x_user.id' })), [
    'identity.assertion.header: "x_user.id" is already the header of "id" (only letters and digits are compared): choose another name',
  ])
  t.match(problemMessages(t, assertion({ header: 'Authorization' })), [/is a reserved header/])
  t.equal(
    problemMessages(t, headers({ name: 'X-Gatehouse-Assertion' })).length,
    1,
    'its default name is taken',
  )
})

t.test('an assertion is refused with HS256 only, which no backend could verify', async (t) => {
  for (const algorithm of ['ES256', 'RS256', 'EdDSA', 'HS256']) {
    const config = assertion({ enabled: true }, { tokens: { algorithm } })
    const expected =
      algorithm === 'HS256' ? [/^identity\.assertion\.enabled: needs ES256, RS256 or EdDSA/] : []
    t.match(problemMessages(t, config), expected)
    t.strictSame(problemMessages(t, assertion({ enabled: false }, { tokens: { algorithm } })), [])
  }
})

t.test('the feed of revocations is refused with HS256 only, which no reader could verify', async (t) => {
  for (const algorithm of ['ES256', 'RS256', 'EdDSA', 'HS256']) {
    const config = (enabled: boolean) => assertion({}, { tokens: { algorithm, revocationFeed: { enabled } } })
    const expected =
      algorithm === 'HS256' ? [/^tokens\.revocationFeed\.enabled: needs ES256, RS256 or EdDSA/] : []
    t.match(problemMessages(t, config(true)), expected)
    t.equal(problemMessages(t, config(true)).length, expected.length)
    t.strictSame(problemMessages(t, config(false)), [])
  }
})
