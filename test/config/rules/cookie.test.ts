import t from 'tap'
import { minimalConfig, type Options, problemMessages } from '../config-fixtures.ts'

const https = { publicUrl: 'https://api.example.com' }
const needsSecure = 'needs secure: true, or an https publicUrl'

const cases: readonly (readonly [what: string, options: Options, complaints: readonly string[]])[] = [
  ['the default name over http', {}, []],
  ['a __Host- name over https at the root', { ...https, cookie: { name: '__Host-refresh', path: '/' } }, []],
  ['a __Secure- name over https at any path', { ...https, cookie: { name: '__Secure-refresh' } }, []],
  ['a __Secure- name with secure: true', { cookie: { name: '__Secure-refresh', secure: true } }, []],
  ['a name that only resembles a __Host- one', { cookie: { name: '__Hostess' } }, []],
  ['None over https', { ...https, cookie: { sameSite: 'None' } }, []],
  ['Lax over http', { cookie: { sameSite: 'Lax' } }, []],
  [
    'a __Secure- name over http',
    { cookie: { name: '__Secure-refresh' } },
    [`cookie.name: "__Secure-refresh" ${needsSecure}`],
  ],
  [
    'a __Host- name in another case, which browsers treat alike',
    { cookie: { name: '__host-refresh', path: '/' } },
    [`cookie.name: "__host-refresh" ${needsSecure}`],
  ],
  [
    'a __Secure- name with secure: false behind https',
    { ...https, cookie: { name: '__Secure-refresh', secure: false } },
    [`cookie.name: "__Secure-refresh" ${needsSecure}`],
  ],
  [
    'a __Host- name below the root',
    { ...https, cookie: { name: '__Host-refresh' } },
    ['cookie.path: must be / for a name that begins with __Host-'],
  ],
  ['None over http', { cookie: { sameSite: 'None' } }, [`cookie.sameSite: None ${needsSecure}`]],
  [
    'a __Secure- name over https, written in capitals',
    { publicUrl: 'HTTPS://api.example.com', cookie: { name: '__Secure-refresh' } },
    [],
  ],
]

for (const [what, options, expected] of cases) {
  t.test(`a refresh cookie is refused exactly where browsers would drop it: ${what}`, async (t) => {
    t.strictSame(problemMessages(t, { ...minimalConfig, ...options }), expected)
  })
}

t.test("the refresh cookie's name and path cannot contain cookie syntax", async (t) => {
  for (const name of ['', 'a b', 'a=b', 'a;b', 'a,b', 'é', 'a\n', 'a'.repeat(65)]) {
    t.match(
      problemMessages(t, { ...minimalConfig, cookie: { name } }),
      [/^cookie\.name: has an invalid format/],
      name,
    )
  }
  for (const path of ['', 'api', '/a;b', '/a b', '/é', '/a\n', '/a\u007f']) {
    t.match(
      problemMessages(t, { ...minimalConfig, cookie: { path } }),
      [/^cookie\.path: has an invalid format/],
      path,
    )
  }
  t.strictSame(problemMessages(t, { ...minimalConfig, cookie: { name: 'r.T-1_!', path: '/a/b,c:d' } }), [])
})

t.test("the refresh cookie cannot have a name of the portal's cookies", async (t) => {
  for (const name of [
    'gatehouse-portal',
    'Gatehouse-form',
    '__Host-gatehouse-notice',
    '__Secure-gatehouse-x',
  ])
    t.strictSame(
      problemMessages(t, { ...minimalConfig, ...https, cookie: { name, path: '/' } }),
      [`cookie.name: "${name}" could be a cookie of the portal: choose another name`],
      name,
    )
  t.strictSame(problemMessages(t, { ...minimalConfig, cookie: { name: 'gatehouse' } }), [])
})
