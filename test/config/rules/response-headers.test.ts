import t from 'tap'
import { load, type Options, problemMessages, withRoute } from '../config-fixtures.ts'

const problems = (t: Parameters<typeof load>[0], responseHeaders: Options, config: Options = {}) =>
  problemMessages(t, { ...withRoute({ responseHeaders }), ...config })

t.test('response headers are resolved to what is set, and all names that are replaced', async (t) => {
  const [route] = load(
    t,
    withRoute({ responseHeaders: { set: { 'X-A': 'b c' }, remove: ['Server'] } }),
  ).routes
  t.strictSame(route?.responseHeaders, { set: ['X-A', 'b c'], replacedNames: new Set(['x-a', 'server']) })
  t.equal(load(t, withRoute({ responseHeaders: {} })).routes[0]?.responseHeaders, undefined)
})

t.test('what the gateway writes itself can be neither set nor removed', async (t) => {
  for (const name of [
    'Connection',
    'keep-alive',
    'Transfer-Encoding',
    'Content-Length',
    'TE',
    'Trailer',
    'Upgrade',
    'Proxy-Authenticate',
    'X-Request-Id',
    'x_request_id',
    'Date',
    'Sec-WebSocket-Accept',
  ]) {
    t.match(problems(t, { set: { [name]: 'a' } }), [/responseHeaders\.set/], name)
    t.match(problems(t, { remove: [name] }), [/responseHeaders\.remove\[0\]/], name)
  }
  t.strictSame(problems(t, { remove: ['Set-Cookie', 'WWW-Authenticate', 'Vary', 'X-User-Id'] }), [])
  t.match(problems(t, { set: { 'Set-Cookie': 'a=b' } }), [/let the backend set it/])
})

t.test('no identity header is set, in any spelling', async (t) => {
  const identity = { headers: { id: 'X-Me', role: 'X-User-Role' } }
  for (const name of ['X-User-Id', 'x_user_role', 'X-Me', 'x.me', 'X-Gatehouse-Assertion'])
    t.match(problems(t, { set: { [name]: 'a' } }, { identity }), [/says who is calling/], name)
})

t.test('CORS fields are those of cors.origins, where it lists any', async (t) => {
  const name = 'Access-Control-Allow-Origin'
  t.strictSame(problems(t, { set: { [name]: '*' } }), [])
  const cors = { origins: ['https://app.example.com'] }
  t.match(problems(t, { set: { [name]: '*' } }, { cors }), [/is decided by cors\.origins/])
  t.match(problems(t, { remove: [name] }, { cors }), [/is decided by cors\.origins/])
})

t.test('values can be sent, and names are given once', async (t) => {
  for (const value of ['a\r\nb', ' a', 'a ', 'é', '\u0001'])
    t.match(problems(t, { set: { 'X-A': value } }), [/responseHeaders\.set/], JSON.stringify(value))
  t.match(problems(t, { set: { 'X-A': 'a', 'x-a': 'b' } }), [/is named more than once/])
  t.match(problems(t, { set: { 'X-A': 'a' }, remove: ['X-A'] }), [/is named more than once/])
  t.strictSame(problems(t, { set: { 'X-A': 'a'.repeat(8_192) } }), [])
  t.match(problems(t, { set: { 'X-A': 'a'.repeat(8_193) } }), [/at most 8192/])
  t.match(problems(t, { set: { 'X-A': 'a'.repeat(8_192), 'X-B': 'a'.repeat(8_192) } }), [/at most 16384/])
  const many = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}`)
  t.strictSame(problems(t, { remove: many(64) }), [])
  t.match(problems(t, { remove: many(65) }), [/responseHeaders\.remove/])
  t.match(problems(t, { set: { 'X A': 'a' } }), [/X A/])
  t.match(problems(t, { set: { 'X-A': { env: 'A' } } }), [/responseHeaders\.set/])
})
