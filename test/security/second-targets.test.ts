import t, { type Test } from 'tap'
import { secondTargetFields } from '#gateway/arrival/second-target-fields.ts'
import { askDecision, startDecideGateway } from '../gateway/decide/support.ts'
import { ask } from '../gateway/support/ask.ts'
import { assertProblem } from '../gateway/support/problem.ts'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { startBackend } from '../setup/backend.ts'
import { isApp, notInApp, startGateway } from '../setup/gateway.ts'
import { rawRequest } from '../setup/raw-client.ts'

/** The Destination of WebDAV has tests of its own. */
const sources = [...secondTargetFields.values()].filter(
  ({ form }) => !['destination', 'account'].includes(form),
)
const names = sources.map(({ name }) => name)
const ofHost = sources.filter(({ form }) => form === 'url').map(({ name }) => name)
const ofRoot = names.filter((name) => !ofHost.includes(name))

const route = { upstream: 'backend', auth: 'any' }
const routes = [
  { ...route, name: 'files', path: '/files' },
  { ...route, name: 'strip', path: '/strip', stripPrefix: true },
  { ...route, name: 'strip-admin', path: '/strip/admin', stripPrefix: true, roles: ['Admin'] },
  { ...route, name: 'admin', path: '/files/admin', roles: ['Admin'] },
  { ...route, name: 'bearer', path: '/files/bearer', auth: 'bearer' },
  { ...route, name: 'foreign', path: '/files/foreign', upstream: 'other' },
  { ...route, name: 'public', path: '/public', auth: 'none' },
]
const refused = { status: 403, code: 'destination-forbidden' }
const perHost = { skip: notInApp('to an app each prefix is a backend of its own') }

async function start(t: Test, config: Readonly<Record<string, unknown>> = {}) {
  const backend = await startBackend(t)
  const upstreams = {
    backend: { targets: [{ url: backend.url }] },
    other: { targets: [{ url: backend.url }] },
  }
  const gateway = await startGateway(t, { config: { upstreams, routes, ...config } })
  const { secretKey } = await gateway.createAccount()
  const put = (path: string, ...headers: readonly string[]) =>
    ask(t, gateway.url, `PUT ${path}`, [`SecretKey: ${secretKey}`, ...headers], '')
  return { backend, gateway, put, key: `SecretKey: ${secretKey}` }
}

t.test('a source that the caller may not reach by its own route is refused', async (t) => {
  const { backend, put, gateway, key } = await start(t)
  for (const name of names) {
    for (const source of [
      '/files/admin/x',
      '/files/admin/x?versionId=1',
      '/files/bearer/x',
      '/files/foreign/x',
      '/nowhere/x',
      '/portal',
      '/api/v1/admin/accounts',
      // Of another host.
      'http://evil.example/files/x',
      'https://gateway.test/files/x',
      '//evil.example/files/x',
      // Ambiguous.
      '/files/../files/x',
      '/files/%2e%2e/files/x',
      '/files/ADMIN/x',
      '/files/%61dmin/x',
      '/files%2Fadmin/x',
      '/files/%2561dmin/x',
      '/files//admin/x',
      '/files\\admin\\x',
      '/files/admin;v=1/x',
      '/files/x#y',
      '/files/x y',
      '/files/%zz',
      // None at all.
      '',
      '/',
    ])
      for (const method of ['PUT', 'POST', 'GET'])
        assertProblem(
          t,
          await ask(t, gateway.url, `${method} /files/x`, [key, `${name}: ${source}`]),
          refused,
        )
    for (const twice of [
      [`${name}: /files/y`, `${name}: /files/y`],
      [`${name}: /files/y`, `${name.toLowerCase()}: /files/admin/y`],
      [`${name}: /files/y`, `${name.toUpperCase()}:`],
    ])
      assertProblem(t, await put('/files/x', ...twice), refused)
    // Nobody has looked at the credential, and the backend is told of no caller.
    assertProblem(t, await put('/public/x', `${name}: /files/x`), refused)
    assertProblem(t, await ask(t, gateway.url, 'PUT /public/x', [`${name}: /files/x`]), refused)
  }
  for (const name of ofRoot)
    for (const source of ['files/admin/x', 'files%2Fadmin%2Fx', 'http://gateway.test/files/x'])
      assertProblem(t, await put('/files/x', `${name}: ${source}`), refused)
  for (const name of ofHost)
    for (const source of ['http://gateway.test/files/admin/x', `${backend.url}/files/x`, 'files/x'])
      assertProblem(t, await put('/files/x', `${name}: ${source}`), refused)
  t.strictSame(backend.seen, [])
})

t.test('a source that the caller may reach arrives as it was sent', async (t) => {
  const { backend, put, gateway } = await start(t)
  const admin = await gateway.createAccount({ role: 'Admin' })
  const sent = ['/files/y', '/files/y%20z?versionId=a%2Fb', '/files/%E4/ADMIN']
  for (const name of names) {
    const written = [
      ...sent,
      ...(ofRoot.includes(name) ? ['files/y', 'files%2Fy'] : ['http://gateway.test/files/y?sv=1']),
    ]
    for (const source of written) {
      t.equal((await put('/files/x', `${name}: ${source}`)).status, 200, source)
      t.equal(backend.last().headers[name.toLowerCase()], source)
    }
    if (isApp()) continue
    const key = `SecretKey: ${admin.secretKey}`
    await ask(t, gateway.url, 'PUT /files/x', [key, `${name}: /files/admin/y`])
    t.equal(backend.last().headers[name.toLowerCase()], '/files/admin/y')
  }
})

t.test(
  'where a prefix is stripped a source is below it, and loses it where it has it',
  perHost,
  async (t) => {
    const { backend, put } = await start(t)
    for (const name of names) {
      const field = name.toLowerCase()
      t.equal((await put('/strip/x', `${name}: /strip/y/z?v=1`)).status, 200)
      t.equal(backend.last().headers[field], '/y/z?v=1')
      assertProblem(t, await put('/strip/x', `${name}: /strip/admin/z`), refused)
    }
    for (const name of ofRoot) {
      const field = name.toLowerCase()
      for (const source of ['/y/z', 'y/z', '/stripped/z', '/files/y']) {
        t.equal((await put('/strip/x', `${name}: ${source}`)).status, 200)
        t.equal(backend.last().headers[field], source)
      }
      await put('/strip/x', `${name}: strip/y/z`)
      t.equal(backend.last().headers[field], 'y/z')
      for (const source of ['/admin/z', 'admin/z', '/%61dmin/z', '/ADMIN/z', '/../x'])
        assertProblem(t, await put('/strip/x', `${name}: ${source}`), refused)
    }
  },
)

t.test('other spellings of these fields do not reach a backend, nor do trailers', async (t) => {
  const { backend, put, key, gateway } = await start(t, {
    routes: isApp() ? routes : routes.map((each) => ({ ...each, trailers: 'pass' })),
  })
  const spelled = [...names, 'X-Copy-From-Account', 'Destination-Account'].flatMap((name) => [
    name.replaceAll('-', '_'),
    name.replaceAll('-', '.'),
    name.replaceAll('-', ''),
  ])
  for (const name of spelled) {
    t.equal((await put('/files/x', `${name}: /files/admin/hidden`)).status, 200)
    t.notMatch(JSON.stringify(backend.last().rawHeaders), 'hidden', name)
  }
  if (!isApp()) {
    const chunked = ['Transfer-Encoding: chunked', 'Trailer: X-Amz-Copy-Source']
    const body = '0\r\nX-Amz-Copy-Source: /files/admin/hidden\r\n\r\n'
    const lines = [`PUT /files/x HTTP/1.1`, 'Host: gateway.test', key, ...chunked]
    t.equal((await rawRequest(t, gateway.url, lines, body)).status, 200)
    t.notMatch(JSON.stringify(backend.last().trailers), 'hidden')
  }
  // A field that a name in Connection takes away is still checked, and still written.
  const connection = 'Connection: x-copy-from, x-amz-copy-source'
  await put('/files/x', connection, 'X-Copy-From: /files/y')
  t.equal(backend.last().headers['x-copy-from'], '/files/y')
  assertProblem(t, await put('/files/x', connection, 'X-Amz-Copy-Source: /files/admin/y'), refused)
})

t.test('each of several second targets is decided about', async (t) => {
  const { backend, put } = await start(t)
  const fields = names.map((name) => `${name}: /files/${name}`)
  t.equal((await put('/files/x', ...fields)).status, 200)
  for (const name of names) t.equal(backend.last().headers[name.toLowerCase()], `/files/${name}`)
  const { length } = backend.seen
  for (const name of names) {
    const others = fields.filter((line) => !line.startsWith(`${name}:`))
    assertProblem(t, await put('/files/x', ...others, `${name}: /files/admin/x`), refused)
  }
  t.equal(backend.seen.length, length)
})

t.test('a source is read, and one that is renamed is deleted too', perHost, async (t) => {
  const own = [
    { ...route, name: 'own', path: '/own' },
    { ...route, name: 'library', path: '/library', methods: ['GET'] },
    { ...route, name: 'inbox', path: '/inbox', methods: ['PUT', 'POST'] },
    { ...route, name: 'inbox-admin', path: '/inbox', methods: ['GET', 'DELETE'], roles: ['Admin'] },
    { ...route, name: 'kept', path: '/kept', methods: ['GET', 'PUT'] },
  ]
  const { backend, put } = await start(t, { routes: own })
  for (const { name, methods = [] } of sources) {
    const isRename = methods.includes('DELETE')
    assertProblem(t, await put('/own/x', `${name}: /inbox/y`), refused)
    for (const source of ['/library/y', '/kept/y'])
      t.equal((await put('/own/x', `${name}: ${source}`)).status, isRename ? 403 : 200, `${name} ${source}`)
  }
  t.not(backend.seen.length, 0)
})

t.test(
  'a source of Swift is below the account of the request, or of the one that is named',
  perHost,
  async (t) => {
    const accounts = [
      { ...route, name: 'own', path: '/v1/AUTH_own' },
      { ...route, name: 'own-admin', path: '/v1/AUTH_own/admin', roles: ['Admin'] },
      { ...route, name: 'other', path: '/v1/AUTH_other', roles: ['Admin'] },
      { ...route, name: 'stripped', path: '/store', stripPrefix: true },
      { ...route, name: 'stripped-other', path: '/store/v1/AUTH_other', stripPrefix: true, roles: ['Admin'] },
      { ...route, name: 'ceph', path: '/swift/v1' },
      { ...route, name: 'ceph-admin', path: '/swift/v1/admin', roles: ['Admin'] },
    ]
    const { backend, put, key, gateway } = await start(t, { routes: accounts })
    const copy = (path: string, ...headers: readonly string[]) =>
      ask(t, gateway.url, `COPY ${path}`, [key, ...headers])
    for (const [path, source] of [
      ['/v1/AUTH_own/c/o', '/d/o'],
      ['/v1/AUTH_own/c/o', 'd/o%20p'],
      ['/store/v1/AUTH_own/c/o', '/d/o'],
      ['/swift/v1/c/o', '/d/o'],
      ['/swift/v1/AUTH_own/c/o', '/admin/o'],
    ] as const) {
      t.equal((await put(path, `X-Copy-From: ${source}`)).status, 200, path)
      t.equal(backend.last().headers['x-copy-from'], source)
      t.equal((await copy(path, `Destination: ${source}`)).status, 200, path)
      t.equal(backend.last().headers.destination, source.replace(/^\//, ''))
    }
    const named = 'X-Copy-From-Account: AUTH_own'
    await put('/v1/AUTH_own/c/o', 'X-Copy-From: /d/o', named)
    t.match(backend.last().headers, { 'x-copy-from': '/d/o', 'x-copy-from-account': 'AUTH_own' })
    await copy('/v1/AUTH_own/c/o', 'Destination: d/o', 'Destination-Account: AUTH_own')
    t.match(backend.last().headers, { destination: 'd/o', 'destination-account': 'AUTH_own' })
    // Of no field that it belongs to.
    await put('/v1/AUTH_own/c/o', 'X-Copy-From-Account: AUTH_other')
    t.equal(backend.last().headers['x-copy-from-account'], undefined)
    for (const [path, source, account] of [
      ['/v1/AUTH_own/c/o', '/admin/o', undefined],
      ['/v1/AUTH_own/c/o', '/../AUTH_other/o', undefined],
      ['/v1/AUTH_own/c/o', '/d/o', 'AUTH_other'],
      ['/v1/AUTH_own/c/o', '/d/o', 'AUTH_own/../AUTH_other'],
      ['/v1/AUTH_own/c/o', '/d/o', 'AUTH%5Fother'],
      ['/v1/AUTH_own/c/o', '/d/o', ''],
      ['/v1/AUTH_own/c/o', '/d/o', 'AUTH_own/x'],
      ['/v1/AUTH_own/c/o', '/d/o', 'AUTH_own?x'],
      ['/store/v1/AUTH_own/c/o', '/d/o', 'AUTH_other'],
      ['/swift/v1/c/o', '/admin/o', undefined],
      ['/store/x', '/d/o', 'AUTH_own'],
    ] as const) {
      const from = account === undefined ? [] : [`X-Copy-From-Account: ${account}`]
      assertProblem(t, await put(path, `X-Copy-From: ${source}`, ...from), refused)
      const to = account === undefined ? [] : [`Destination-Account: ${account}`]
      assertProblem(t, await copy(path, `Destination: ${source}`, ...to), refused)
    }
  },
)

t.test('a bucket with a host of its own is reached by the route of that host', perHost, async (t) => {
  const hosted = [
    { ...route, name: 'any', path: '/' },
    { ...route, name: 'secret', path: '/', host: 'secret.gateway.test', roles: ['Admin'] },
    { ...route, name: 'sibling', path: '/', host: 'sibling.test', methods: ['PUT'] },
    { ...route, name: 'open', path: '/', host: 'open.test' },
    { ...route, name: 'deep', path: '/deep', host: 'open.test', roles: ['Admin'] },
    { ...route, name: 'elsewhere', path: '/', host: 'elsewhere.test', upstream: 'other', roles: ['Admin'] },
  ]
  const { put } = await start(t, { routes: hosted })
  for (const [source, status] of [
    ['secret/x', 403],
    ['/SECRET/x', 403],
    ['%73ecret%2Fx', 403],
    ['sibling/x', 403],
    ['open/deep/x', 403],
    ['open/x', 200],
    ['elsewhere/x', 200],
    ['other/x', 200],
  ] as const)
    t.equal((await put('/bucket/x', `X-Amz-Copy-Source: ${source}`)).status, status, source)
})

t.test('an upstream that loses such a field gets it from nobody', perHost, async (t) => {
  const backend = await startBackend(t)
  const headers = { remove: ['X-Amz-Copy-Source'] }
  const upstreams = { backend: { targets: [{ url: backend.url }], headers } }
  const files = [{ ...route, name: 'files', path: '/files', auth: 'none' }]
  const gateway = await startGateway(t, { config: { upstreams, routes: files } })
  await ask(t, gateway.url, 'PUT /files/x', ['X-Amz-Copy-Source: /files/y', 'X-Copy-From: /files/y'])
  t.equal(backend.last().headers['x-amz-copy-source'], undefined)
  t.equal(backend.last().headers['x-copy-from'], '/files/y')
})

t.test('second targets are decided about over HTTP/2', perHost, async (t) => {
  const { backend, gateway, key } = await start(t)
  const session = await connectHttp2(t, gateway.url)
  const put = (headers: Readonly<Record<string, string | string[]>>) =>
    askHttp2(session, '/files/x', {
      headers: { ':method': 'PUT', secretkey: key.slice('SecretKey: '.length), ...headers },
      body: '',
    })
  const { host } = new URL(gateway.url)
  for (const name of names.map((each) => each.toLowerCase())) {
    t.equal((await put({ [name]: '/files/admin/x' })).status, 403)
    t.equal((await put({ [name]: '/files/y' })).status, 200)
    t.equal(backend.last().headers[name], '/files/y')
  }
  t.equal((await put({ destination: `http://${host}/files/admin/x` })).status, 403)
  t.equal((await put({ destination: `http://${host}/files/y` })).status, 200)
  t.equal(backend.last().headers.destination, `http://${host}/files/y`)
})

t.test('the listener for other proxies decides about second targets', perHost, async (t) => {
  const gateway = await startDecideGateway(t)
  const { secretKey } = await gateway.createAccount()
  const put = (...headers: readonly string[]) =>
    askDecision(t, gateway, {
      method: 'PUT',
      uri: '/key/x',
      headers: [`SecretKey: ${secretKey}`, ...headers],
    })
  for (const name of names) {
    t.equal((await put(`${name}: /key/y`)).status, 200)
    for (const source of ['/admin/y', '/nowhere/y', '/key/../admin/y'])
      assertProblem(t, await put(`${name}: ${source}`), refused)
  }
})
