import t from 'tap'
import { minimalConfig, type Options, problemMessages } from '../config-fixtures.ts'

const enabled = { accessCookie: { enabled: true } }
const route = { name: 'all', path: '/', upstream: 'backend', auth: 'any' }
const withBrowser = (browser: Options, changes: Options = {}): Options => ({
  ...enabled,
  routes: [{ ...route, browser, ...changes }],
})

const cases: readonly (readonly [what: string, options: Options, complaints: readonly string[]])[] = [
  ['a route with both', withBrowser({ cookie: true, signIn: true }), []],
  [
    'a portal on a host of its own',
    { ...withBrowser({ cookie: true, signIn: true }), portal: { host: 'auth.example.com' } },
    [],
  ],
  [
    'a __Host- name over https',
    { publicUrl: 'https://api.example.com', accessCookie: { enabled: true, name: '__Host-at' } },
    [],
  ],
  [
    'a __Host- name over http',
    { accessCookie: { enabled: true, name: '__Host-at' } },
    ['accessCookie.name: "__Host-at" needs cookie.secure: true, or an https publicUrl'],
  ],
  ['the same, not enabled', { accessCookie: { name: '__Host-at' } }, []],
  [
    'the name of the refresh cookie',
    { accessCookie: { enabled: true, name: 'RefreshToken' } },
    ['accessCookie.name: "RefreshToken" is the name of the refresh cookie too'],
  ],
  [
    'a name of the portal',
    { accessCookie: { enabled: true, name: 'gatehouse-portal' } },
    ['accessCookie.name: "gatehouse-portal" could be a cookie of the portal: choose another name'],
  ],
  [
    'a cookie that is not enabled',
    { ...withBrowser({ cookie: true }), accessCookie: {} },
    ['routes[0].browser.cookie: needs accessCookie: { enabled: true }'],
  ],
  [
    'a public route',
    withBrowser({ cookie: true }, { auth: 'none' }),
    ['routes[0].browser.cookie: cannot be combined with auth: none, which looks at no credential'],
  ],
  [
    'a route for keys',
    withBrowser({ cookie: true }, { auth: 'secretKey' }),
    [
      'routes[0].browser.cookie: holds an access token, which auth: secretKey does not accept: use bearer or any',
    ],
  ],
  [
    'a path that the cookie is not sent to',
    { ...withBrowser({ cookie: true }, { path: '/apple' }), accessCookie: { enabled: true, path: '/app' } },
    ['routes[0].browser.cookie: never gets the cookie: /apple is not below /app, the path of accessCookie'],
  ],
  [
    'a path below that of the cookie',
    { ...withBrowser({ cookie: true }, { path: '/app/x' }), accessCookie: { enabled: true, path: '/app/' } },
    [],
  ],
  [
    'a sign-in without the cookie',
    withBrowser({ signIn: true }),
    ['routes[0].browser.signIn: needs cookie: true, as the sign-in ends with the access cookie'],
  ],
  [
    'a sign-in without a portal',
    { ...withBrowser({ cookie: true, signIn: true }), portal: { enabled: false } },
    ['routes[0].browser.signIn: needs the portal: portal.enabled is false'],
  ],
  [
    'a sign-in where nobody has to',
    withBrowser({ cookie: true, signIn: true }, { auth: 'optional' }),
    ['routes[0].browser.signIn: cannot be combined with auth: optional, which allows anonymous requests'],
  ],
]

for (const [what, options, complaints] of cases) {
  t.test(`the access cookie is only where browsers send it: ${what}`, async (t) => {
    t.strictSame(problemMessages(t, { ...minimalConfig, ...options }), complaints)
  })
}
