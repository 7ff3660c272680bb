import t, { type Test } from 'tap'
import { defaultIdentityHeaders } from '../../setup/default-identity-headers.ts'
import {
  load,
  type Options,
  problemMessages,
  problems,
  type ReadOptions,
  withUpstream,
} from '../config-fixtures.ts'

const at = 'upstreams.backend.headers'
const headers = (options: Options) => withUpstream({ headers: options })
const set = (fields: Options) => headers({ set: fields })
const remove = (...names: readonly string[]) => headers({ remove: names })

/** What is wrong with fields that are set, without the path of the upstream's headers. */
function problemsOfSet(t: Test, fields: Options, around?: ReadOptions): readonly string[] {
  return problemMessages(t, set(fields), around).map((problem) => problem.replace(`${at}.set.`, ''))
}

t.test('headers of an upstream are set from text, a file and the environment', async (t) => {
  const fields = { 'X-Fixed': 'a b\tc', Authorization: { env: 'TOKEN' }, 'X-Key': { file: 'key' } }
  const { upstreams } = load(t, headers({ set: fields, remove: ['X-Debug', 'Cookie'] }), {
    env: { TOKEN: 'Bearer abc' },
    files: { 'config/key': 'hunter2\n' },
  })
  t.strictSame(upstreams[0]?.headers, {
    lines: 'X-Fixed: a b\tc\r\nAuthorization: Bearer abc\r\nX-Key: hunter2\r\n',
    replacedNames: new Set(['xfixed', 'authorization', 'xkey', 'xdebug', 'cookie']),
    secretNames: new Set(['authorization', 'xkey']),
  })
  t.equal(load(t, headers({})).upstreams[0]?.headers, undefined, 'empty maps are as good as none')
})

t.test('an identity header can be neither set nor removed, in any spelling, configured or not', async (t) => {
  const reason = 'tells the backend who is calling: only the gateway says that'
  const configured = { identity: { headers: { email: 'X-Mail' }, assertion: { header: 'X-Proof' } } }
  for (const name of [...defaultIdentityHeaders, 'x_user_id', 'X.User.Role', 'XMail', 'x-proof']) {
    t.strictSame(problemMessages(t, { ...set({ [name]: 'a' }), ...configured }), [
      `${at}.set.${name}: "${name}" ${reason}`,
    ])
    t.strictSame(problemMessages(t, { ...remove(name), ...configured }), [
      `${at}.remove[0]: "${name}" ${reason}`,
    ])
  }
})

t.test(
  'fields that the gateway writes can be neither set nor removed, and the problem says why',
  async (t) => {
    const reasons: Readonly<Record<string, readonly string[]>> = {
      'is about one connection': ['Connection', 'Keep-Alive', 'TE', 'Upgrade', 'Proxy-Authorization'],
      'frames the request': ['Content-Length', 'content_length', 'Transfer-Encoding', 'Trailer', 'Expect'],
      'is chosen by the option "host"': ['Host'],
      'tells the backend who the client is': ['X-Forwarded-For', 'X_Forwarded_Proto', 'X-Forwarded-Host'],
      'connects the log lines': ['X-Request-Id'],
      'carries the trace': ['traceparent', 'tracestate'],
      'is never forwarded': ['Proxy'],
      'is counted down': ['Max-Forwards'],
      'belongs to the handshake': ['Sec-WebSocket-Key', 'Sec-WebSocket-Version'],
      'must contain a letter or digit': ['---'],
    }
    for (const [reason, names] of Object.entries(reasons)) {
      for (const name of names) {
        t.match(problemsOfSet(t, { [name]: 'a' }), [`${name}: "${name}" ${reason}`], name)
        t.match(problemMessages(t, remove(name)), [`${at}.remove[0]: "${name}" ${reason}`], name)
      }
    }
  },
)

t.test('a problem of a header stands at its line', async (t) => {
  const text = [
    'upstreams:',
    '  backend:',
    '    targets: [{ url: http://127.0.0.1:1 }]',
    '    headers:',
    '      set:',
    '        X-User-Id: root',
    '        X-Long: "a\\nb"',
    '      remove:',
    '        - Host',
    'routes: [{ name: all, path: /, upstream: backend, auth: any }]',
  ].join('\n')
  t.match(problems(t, text), [
    /^6:9 {2}upstreams\.backend\.headers\.set\.X-User-Id: /,
    /^7:17 {2}upstreams\.backend\.headers\.set\.X-Long: must not contain a line break$/,
    /^9:11 {2}upstreams\.backend\.headers\.remove\[0\]: /,
  ])
})

t.test('one header cannot be named twice, in any spelling', async (t) => {
  const compared = '(only letters and digits are compared)'
  t.strictSame(problemsOfSet(t, { 'X-Key': 'a', x_key: 'b' }), [
    `x_key: "x_key" is already named by set.X-Key ${compared}`,
  ])
  t.strictSame(problemMessages(t, headers({ set: { 'X-Key': 'a' }, remove: ['x.key'] })), [
    `${at}.remove[0]: "x.key" is already named by set.X-Key ${compared}`,
  ])
  t.strictSame(problemMessages(t, remove('X-A', 'X_A')), [
    `${at}.remove[1]: "X_A" is already named by remove: X-A ${compared}`,
  ])
})

t.test('the name of a header must be one', async (t) => {
  const message =
    'is not the name of a header: it must consist of letters, digits and signs such as - and _, and have 64 characters at most'
  for (const name of ['X Key', 'X:Key', 'X-Käy', 'X\r\nY', 'x'.repeat(65)]) {
    t.match(problemsOfSet(t, { [name]: 'a' })[0], message, name)
    t.equal(problemMessages(t, remove(name)).length, 1, name)
  }
  t.strictSame(problemsOfSet(t, { ['x'.repeat(64)]: 'a', __proto__x: 'b' }), [])
})

t.test('at most 64 headers are set, and as many removed', async (t) => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}`)
  const fields = (count: number) => Object.fromEntries(names(count).map((name) => [name, 'a']))
  t.strictSame(problemMessages(t, set(fields(64))), [])
  t.strictSame(problemMessages(t, remove(...names(64))), [])
  for (const count of [65, 1_000]) {
    t.strictSame(problemMessages(t, set(fields(count))), [`${at}.set: must NOT have more than 64 properties`])
    t.strictSame(problemMessages(t, remove(...names(count))), [
      `${at}.remove: must NOT have more than 64 items`,
    ])
  }
})

t.test(
  'a value must be visible ASCII of bounded length, written or secret; a secret is not repeated',
  async (t) => {
    const wrong: Readonly<Record<string, string>> = {
      'hunter2\r\nX-User-Id: root': 'must not contain a line break',
      'hunter2\nx': 'must not contain a line break',
      'hunter2\rx': 'must not contain a line break',
      'hunter2\n\n': 'must not contain a line break',
      ' hunter2': 'must not begin or end with a space or tab',
      'hunter2\t': 'must not begin or end with a space or tab',
      'hunter2\u0000': 'must be visible ASCII, with spaces and tabs only inside',
      'hunter2\u007f': 'must be visible ASCII, with spaces and tabs only inside',
      hunter2é: 'must be visible ASCII, with spaces and tabs only inside',
      [`hunter2${'x'.repeat(8_186)}`]: 'must have at most 8192 characters',
      [`hunter2${'x'.repeat(100_000)}`]: 'must have at most 8192 characters',
    }
    for (const [value, message] of Object.entries(wrong)) {
      t.strictSame(problemsOfSet(t, { 'X-A': value }), [`X-A: ${message}`])
      t.strictSame(problemsOfSet(t, { 'X-A': { file: 'a' } }, { files: { 'config/a': value } }), [
        `X-A: ${message}`,
      ])
      const env = { env: { A: value } }
      t.strictSame(problemsOfSet(t, { 'X-A': { env: 'A' } }, env), [`X-A: ${message}`])
    }
    const longest = 'x'.repeat(8_192)
    t.strictSame(problemsOfSet(t, { 'X-A': longest }), [])
    t.strictSame(problemsOfSet(t, { 'X-A': { env: 'A' } }, { env: { A: longest } }), [])
    t.strictSame(problemsOfSet(t, { 'X-A': { file: 'a' } }, { files: { 'config/a': 'abc\r\n' } }), [])
  },
)

t.test('the fields that are set have a bounded length together', async (t) => {
  const fields = (last: number) => ({
    'X-1': 'x'.repeat(8_192),
    'X-2': { env: 'A' },
    'X-3': 'x'.repeat(last),
  })
  const env = { env: { A: 'x'.repeat(8_000) } }
  const atMost = 16_384 - 8_192 - 8_000 - 9
  t.strictSame(problemMessages(t, set(fields(atMost)), env), [])
  for (const last of [atMost + 1, 8_192])
    t.strictSame(problemMessages(t, set(fields(last)), env), [
      `${at}.set: names and values together must have at most 16384 characters`,
    ])
})

t.test('a value must be there, and be a text or a secret', async (t) => {
  t.strictSame(problemsOfSet(t, { 'X-A': { env: 'A' } }), ['X-A: the environment variable A is not set'])
  t.strictSame(problemsOfSet(t, { 'X-A': { file: 'a' } }), [
    'X-A: cannot read config/a: no such file or directory',
  ])
  const message = 'X-A: must be text or { file: … } or { env: … } or { credential: … }'
  for (const value of [1, true, '', [], {}, { env: 'A', file: 'a' }, { secret: 'a' }])
    t.strictSame(problemsOfSet(t, { 'X-A': value }), [message], JSON.stringify(value))
})
