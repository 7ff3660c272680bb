import t, { type Test } from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { startDavBackend } from '../gateway/support/dav-backend.ts'
import { assertProblem } from '../gateway/support/problem.ts'
import { startBackend } from '../setup/backend.ts'
import { isApp, notInApp, startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'

const route = { upstream: 'backend', auth: 'any' }
const routes = [
  { ...route, name: 'files', path: '/files' },
  { ...route, name: 'strip', path: '/strip', stripPrefix: true },
  { ...route, name: 'admin', path: '/files/admin', roles: ['Admin'] },
  { ...route, name: 'scoped', path: '/files/scoped', scopes: ['files:write'] },
  { ...route, name: 'bearer', path: '/files/bearer', auth: 'bearer' },
  { ...route, name: 'verified', path: '/files/verified', verifiedOnly: true },
  { ...route, name: 'reading', path: '/files/reading', methods: ['GET', 'PROPFIND'] },
  { ...route, name: 'foreign', path: '/files/foreign', upstream: 'other' },
  ...(isApp() ? [] : [{ ...route, name: 'hosted', path: '/files', host: 'other.test' }]),
  { ...route, name: 'public', path: '/public', auth: 'none' },
  { ...route, name: 'open', path: '/open', auth: 'optional' },
]
const noRequestLog = { skip: notInApp('an app logs its requests itself') }
const onePerBackend = { skip: notInApp('a Destination of another prefix is refused before its credential') }
const refused = { status: 403, code: 'destination-forbidden' }
const host = 'http://gateway.test'

const firstSegment = (path: string) => /^\/[^/]+/.exec(path)?.[0] ?? ''

/** Whether an app has the path of a destination under the prefix, and under no longer one. */
function isBelow(destination: string, prefix: string): boolean {
  const path = destination.replace(/^http:\/\/[^/]+/i, '')
  return routes.findLast((each) => path.startsWith(each.path) && each.path !== '')?.path === prefix
}

/** With a backend that records what it gets. */
async function start(t: Test, config: Readonly<Record<string, unknown>> = {}) {
  const backend = await startBackend(t)
  const upstreams = {
    backend: { targets: [{ url: backend.url }] },
    other: { targets: [{ url: backend.url }] },
  }
  const gateway = await startGateway(t, { config: { upstreams, routes, ...config } })
  return { backend, gateway }
}

t.test('a Destination that the caller may not reach by its own route is refused', async (t) => {
  const { backend, gateway } = await start(t)
  const { secretKey } = await gateway.createAccount({ isVerified: false })
  const key = `SecretKey: ${secretKey}`
  const destinations = [
    // By the route of the destination.
    '/files/admin/x',
    `${host}/files/admin`,
    `${host}/files/admin/x?y=z`,
    '/files/bearer/x',
    '/files/verified/x',
    '/files/reading/x',
    '/files/foreign/x',
    '/nowhere',
    '/',
    // Of the gateway itself.
    '/api/v1/admin/accounts',
    '/portal',
    // Another host or scheme.
    'http://other.test/files/x',
    'http://evil.example/files/x',
    '//evil.example/files/x',
    '//gateway.test/files/x',
    'http://gateway.test:8080/files/x',
    'http://gateway.test@evil.example/files/x',
    'http://user@gateway.test/files/x',
    'http://gateway.test.evil.example/files/x',
    'http://gateway.test\\@evil.example/files/x',
    'https://gateway.test/files/x',
    'ftp://gateway.test/files/x',
    'http:/files/x',
    'http:///files/x',
    // Ambiguous.
    '/files/../files/x',
    '/files/x/../admin/y',
    '/files/%2e%2e/files/x',
    '/files/x/..;/admin',
    '/files//admin',
    '/files\\admin',
    '/files/ADMIN/x',
    '/files/Admin',
    '/files/%61dmin/x',
    '/files%2Fadmin/x',
    '/files/admin;x=y/z',
    '/files/x%00y',
    '/files/x#y',
    '/files/%zz',
    '/files/x y',
    '/files/a, /files/b',
    // No target at all.
    '',
    'files/x',
    '?x',
    '*',
  ]
  for (const destination of destinations) {
    for (const method of ['MOVE', 'COPY', 'POST', 'GET']) {
      const response = await ask(t, gateway.url, `${method} /files/x`, [key, `Destination: ${destination}`])
      // The route of `reading` allows GET.
      if (method === 'GET' && destination.startsWith('/files/reading')) continue
      assertProblem(t, response, refused)
    }
  }
  for (const twice of [
    ['Destination: /files/y', 'Destination: /files/y'],
    ['Destination: /files/y', 'destination: /files/admin/y'],
    ['Destination: /files/y', 'DESTINATION: '],
  ])
    assertProblem(t, await ask(t, gateway.url, 'MOVE /files/x', [key, ...twice]), refused)
  t.strictSame(
    backend.seen.filter(({ method }) => method !== 'GET'),
    [],
  )
})

t.test('a Destination is as allowed as a request to it would be', async (t) => {
  const { backend, gateway } = await start(t)
  const admin = await gateway.createAccount({ role: 'Admin' })
  const user = await gateway.createAccount()
  const { JwtToken } = await gateway.tokens(user)
  const key = [`SecretKey: ${user.secretKey}`]
  const bearer = [`Authorization: Bearer ${JwtToken}`]
  for (const [from, to, credentials, forwarded] of [
    ['/files/x', '/files/y', key, '/files/y'],
    ['/files/x', `${host}/files/y%20z?a=b`, key, '/files/y%20z?a=b'],
    ['/files/x', 'HTTP://GATEWAY.test:80/files/y', key, '/files/y'],
    ['/files/x', '/files/\xe9', key, '/files/%E9'],
    ['/files/x', '/files/verified/x', key, '/files/verified/x'],
    ['/files/x', '/files/scoped/x', key, '/files/scoped/x'],
    ['/files/x', '/files/bearer/x', bearer, '/files/bearer/x'],
    ['/files/x', '/files/admin/x', [`SecretKey: ${admin.secretKey}`], '/files/admin/x'],
    ['/files/x', '/public/x', key, '/public/x'],
    ['/files/x', '/open/x', key, '/open/x'],
    // Each route strips its own prefix.
    ['/strip/x', `${host}/strip/y`, key, '/y'],
    ['/strip/x', '/files/y', key, '/files/y'],
    ['/files/x', '/strip/y/', key, '/y/'],
    ['/files/x', '/strip', key, '/'],
    ['/public/x', '/public/y', [], '/public/y'],
    ['/public/x', '/open/y', [], '/open/y'],
  ] as const) {
    // To an app each prefix is a backend of its own.
    if (isApp() && !isBelow(to, firstSegment(from))) continue
    const { status } = await ask(t, gateway.url, `MOVE ${from}`, [...credentials, `Destination: ${to}`])
    t.equal(status, 200, to)
    t.equal(backend.last().headers.destination, `${host}${forwarded}`)
  }
  for (const [from, to, credentials] of [
    ['/files/x', '/files/bearer/x', key],
    ['/files/x', '/files/admin/x', key],
    // Nobody has looked at the credential, and the backend is told of no caller.
    ['/public/x', '/files/x', key],
    ['/public/x', '/files/x', []],
    ['/open/x', '/files/x', []],
    ['/public/x', '/open/x', ['SecretKey: wrong']],
  ] as const) {
    const response = await ask(t, gateway.url, `MOVE ${from}`, [...credentials, `Destination: ${to}`])
    assertProblem(t, response, refused)
  }
})

t.test(
  'the Destination for the backend is of the host and scheme of X-Forwarded-*, and only the checked one',
  async (t) => {
    const backend = await startBackend(t)
    const upstreams = {
      backend: { targets: [{ url: backend.url }], host: 'target' },
      other: { targets: [{ url: backend.url }] },
    }
    const strip = isApp() ? routes : routes.map((each) => ({ ...each, trailers: 'pass' }))
    const gateway = await startGateway(t, { config: { upstreams, routes: strip } })
    const move = [
      'Destination: http://gateway.test/public/y',
      'New-URI: /files/admin/x',
      'new_uri: /files/admin/x',
    ]
    await ask(t, gateway.url, 'MOVE /public/x', move)
    t.equal(backend.last().headers.destination, `${host}/public/y`)
    t.notMatch(JSON.stringify(backend.last().rawHeaders), 'admin')
    // Without a Destination, mod_dav takes the other field.
    await ask(t, gateway.url, 'MOVE /public/x', ['New-uri: /files/admin/x'])
    t.notMatch(JSON.stringify(backend.last().rawHeaders), 'admin')
    // A field that a name in Connection takes away is still checked, and still written.
    await ask(t, gateway.url, 'MOVE /public/x', ['Connection: destination', 'Destination: /public/z'])
    t.equal(backend.last().headers.destination, `${host}/public/z`)
  },
)

t.test('keys cannot be guessed by a Destination', onePerBackend, async (t) => {
  const { gateway } = await start(t, { limits: { failures: { limit: 3, per: '1h' } } })
  const statuses: number[] = []
  for (let turn = 0; turn < 6; turn++) {
    const guess = `SecretKey: gate_sk_${'a'.repeat(8)}${turn}`
    const { status } = await ask(t, gateway.url, 'MOVE /public/x', [guess, 'Destination: /open/x'])
    statuses.push(status)
  }
  t.strictSame(statuses, [403, 403, 403, 429, 429, 429])
})

t.test('the log says why a Destination is refused, the client does not learn it', noRequestLog, async (t) => {
  const { gateway } = await start(t)
  const { secretKey } = await gateway.createAccount()
  const response = await ask(t, gateway.url, 'MOVE /files/x', [
    `SecretKey: ${secretKey}`,
    'Destination: /files/admin/x',
  ])
  t.notMatch(response.body, /role|admin/)
  const line = await until('the request is logged', () =>
    gateway.logLines.find((each) => each.includes('"request"')),
  )
  t.match(JSON.parse(line), {
    code: 'destination-forbidden',
    reason: 'the Destination is refused by admin: role-forbidden',
  })
})

t.test('nobody overwrites a file of others on a real server', async (t) => {
  const backend = await startDavBackend(t)
  const upstreams = { backend: { targets: [{ url: backend.url }] } }
  const config = {
    upstreams,
    routes: [
      { ...route, name: 'home', path: '/home' },
      { ...route, name: 'admin', path: '/admin', roles: ['Admin'] },
    ],
  }
  const gateway = await startGateway(t, { config })
  const admin = [`SecretKey: ${(await gateway.createAccount({ role: 'Admin' })).secretKey}`]
  const user = [`SecretKey: ${(await gateway.createAccount()).secretKey}`]
  for (const path of ['/home', '/admin'])
    t.equal((await ask(t, gateway.url, `MKCOL ${path}`, admin)).status, 201)
  await ask(t, gateway.url, 'PUT /admin/x', admin, 'theirs')
  await ask(t, gateway.url, 'PUT /home/x', user, 'mine')
  for (const method of ['COPY', 'MOVE']) {
    for (const header of [
      'Destination: /admin/x',
      'Destination: http://gateway.test/admin/x',
      'Destination: http://gateway.test/home/../admin/x',
      'Destination: http://gateway.test/home/%2e%2e/admin/x',
    ])
      assertProblem(t, await ask(t, gateway.url, `${method} /home/x`, [...user, header]), refused)
    const { status } = await ask(t, gateway.url, `${method} /home/x`, [...user, 'New-uri: /admin/x'])
    t.equal(status, 400, 'mod_dav sees no destination')
  }
  t.equal((await ask(t, gateway.url, 'GET /admin/x', admin)).body, 'theirs')
})
