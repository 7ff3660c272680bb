import t from 'tap'
import { load, minimalConfig, problemMessages } from '../config-fixtures.ts'

const accepting = (...accept: readonly unknown[]) => ({ ...minimalConfig, keys: { accept } })
const prefixed = (prefix: unknown) => ({ ...minimalConfig, keys: { prefix } })

t.test('a secret key may come in any header that means nothing else, and in both schemes', async (t) => {
  for (const accept of [
    ['SecretKey'],
    ['X-Api-Key', 'bearer', 'basic', 'secretkey'],
    ['apikey', "!#$%&'*+.^_`|~-x"],
    Array.from({ length: 16 }, (_, index) => `X-Key-${index}`),
  ])
    t.strictSame(load(t, accepting(...accept)).keys.accept, accept)
})

t.test('a list of places that is empty, too long or no list is refused', async (t) => {
  t.equal(problemMessages(t, accepting()).length, 1)
  t.equal(problemMessages(t, accepting(...Array.from({ length: 17 }, (_, index) => `X-${index}`))).length, 1)
  t.equal(problemMessages(t, { ...minimalConfig, keys: { accept: 'SecretKey' } }).length, 1)
  for (const name of ['', 'X Key', 'X-Key:', 'X-K\u00e9y', 'X\r\nY', 'X'.repeat(65), 5, null])
    t.equal(problemMessages(t, accepting(name)).length, 1, String(name))
})

t.test('a secret key cannot come in a header that ordinary requests have, in any spelling', async (t) => {
  const names = [
    'Host',
    'host',
    'Cookie',
    'Set-Cookie',
    'Connection',
    'Keep-Alive',
    'Transfer-Encoding',
    'transfer_encoding',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'Content-Type',
    'Content-Length',
    'Content-Anything',
    'Date',
    'Via',
    'Proxy-Authorization',
    'Forwarded',
    'X-Forwarded-For',
    'X-Forwarded-Anything',
    'X-Real-IP',
    'X-Original-URL',
    'X-Rewrite-URL',
    'X-HTTP-Path-Override',
    'X-Request-Id',
    'X-HTTP-Method',
    'X-HTTP-Method-Override',
    'X-Method-Override',
    'traceparent',
    'Accept',
    'Accept-Language',
    'Access-Control-Request-Method',
    'If-None-Match',
    'Range',
    'Sec-Fetch-Site',
    'User-Agent',
    'Origin',
    'Referer',
    'Cache-Control',
    'Destination',
    'X-Copy-From',
    'X-Amz-Copy-Source',
  ]
  for (const name of names) {
    const message = `keys.accept[0]: "${name}" is a reserved header: choose another name`
    t.strictSame(problemMessages(t, accepting(name)), [message])
  }
})

t.test('Authorization is not a place: its schemes are, in lower case', async (t) => {
  for (const name of ['Authorization', 'authorization', 'author-ization'])
    t.match(problemMessages(t, accepting(name)), [/write "bearer" .* "basic"/])
  t.strictSame(problemMessages(t, accepting('Bearer')), ['keys.accept[0]: write "bearer" in lower case'])
  t.strictSame(problemMessages(t, accepting('BASIC')), ['keys.accept[0]: write "basic" in lower case'])
})

t.test('an identity header is no place for a key, a default or a configured one', async (t) => {
  const named = { identity: { headers: { id: 'X-Caller' }, assertion: { header: 'X-Proof' } } }
  for (const name of ['X-User-Id', 'x_user_email', 'X-Gatehouse-Assertion', 'X-Caller', 'x_proof'])
    t.match(problemMessages(t, { ...accepting(name), ...named }), [/is an identity header/], name)
})

t.test('places that are the same to a backend are refused, at the second one', async (t) => {
  t.strictSame(problemMessages(t, accepting('X-Api-Key', 'bearer', 'X-Api-Key')), [
    'keys.accept[2]: "X-Api-Key" is listed twice',
  ])
  for (const other of ['x-api-key', 'X_Api_Key', 'XApiKey'])
    t.strictSame(problemMessages(t, accepting('X-Api-Key', other)), [
      `keys.accept[1]: "${other}" is the same as "X-Api-Key" (only letters and digits are compared)`,
    ])
  t.strictSame(problemMessages(t, accepting('basic', 'basic')), ['keys.accept[1]: "basic" is listed twice'])
})

t.test('a prefix is up to 16 small letters and digits, and of no other credential', async (t) => {
  for (const prefix of ['g', 'acme2', 'a0123456789abcde']) {
    t.equal(load(t, prefixed(prefix)).keys.prefix, prefix)
  }
  for (const prefix of [
    '',
    'Gate',
    '1gate',
    'ga_te',
    'ga-te',
    'gat\u00e9',
    'a0123456789abcdef',
    'a'.repeat(1_000),
    5,
  ])
    t.equal(problemMessages(t, prefixed(prefix)).length, 1, String(prefix))
  for (const prefix of ['gsk', 'gak', 'grt', 'gsl', 'gev', 'gps'])
    t.match(problemMessages(t, prefixed(prefix)), [/^keys\.prefix: .*another kind of credential/])
})
