import t from 'tap'
import { compileRoutes, type RouteOptions } from '#gateway/routes/compile.ts'
import { compileOne, options, upstreams } from './examples.ts'

t.test('a compiled prefix has no trailing slash and counts its segments', async (t) => {
  const places: readonly (readonly [path: string, prefix: string, depth: number])[] = [
    ['/', '', 0],
    ['/a', '/a', 1],
    ['/a/', '/a', 1],
    ['/a/b/c', '/a/b/c', 3],
    ['/%61/%c3%a9', '/a/%C3%A9', 2],
  ]
  for (const [path, prefix, depth] of places) t.hasStrict(compileOne({ path }), { prefix, depth }, path)
})

t.test("a route's host is lower-cased, and none matches any host", async (t) => {
  t.equal(compileOne({ host: 'API.Example.COM' }).host, 'api.example.com')
  t.equal(compileOne({}).host, undefined)
})

t.test('a route for GET takes HEAD too, no other method implies one', async (t) => {
  t.strictSame([...(compileOne({ methods: ['GET', 'POST'] }).methods ?? [])], ['GET', 'POST', 'HEAD'])
  t.strictSame([...(compileOne({ methods: ['GET', 'HEAD'] }).methods ?? [])], ['GET', 'HEAD'])
  t.strictSame([...(compileOne({ methods: ['POST'] }).methods ?? [])], ['POST'])
  t.equal(compileOne({}).methods, undefined)
})

t.test('each auth option takes its schemes, and only optional and none allow anonymous', async (t) => {
  t.strictSame(compileOne({ auth: 'none' }).access, { kind: 'public', leavesAuthorization: false })
  const kinds = [
    ['secretKey', ['secretKey'], false],
    ['bearer', ['bearer'], false],
    ['any', ['secretKey', 'bearer'], false],
    ['optional', ['secretKey', 'bearer'], true],
  ] as const satisfies readonly (readonly [RouteOptions['auth'], readonly string[], boolean])[]
  for (const [auth, schemes, isOptional] of kinds) {
    t.hasStrict(compileOne({ auth }).access, { kind: 'protected', schemes, isOptional }, auth)
  }
})

t.test('compiled access holds roles and verifiedOnly', async (t) => {
  const { access } = compileOne({ roles: ['Admin', 'Staff'], verifiedOnly: true })
  t.hasStrict(access, { kind: 'protected', roles: new Set(['Admin', 'Staff']), verifiedOnly: true })
  t.hasStrict(compileOne({}).access, { roles: undefined, verifiedOnly: false })
})

t.test("a route's own timeouts win over its upstream's, each by itself", async (t) => {
  t.hasStrict(compileOne({ idleTimeoutMs: 10 }), { responseTimeoutMs: 30_000, idleTimeoutMs: 10 })
  t.equal(compileOne({ responseTimeoutMs: 10 }).responseTimeoutMs, 10)
  t.hasStrict(compileOne({}), { responseTimeoutMs: 30_000, idleTimeoutMs: 60_000 })
})

t.test('switches and limits of a route are compiled unchanged', async (t) => {
  const on = {
    rewrite: '/socket',
    responseHeaders: { set: ['A', 'b'], replacedNames: new Set(['a']) },
    websocket: true,
    encodedSlash: 'reject',
    caseSensitive: true,
    methodOverride: 'pass',
    trailers: 'pass',
    forwardCredentials: true,
  } as const
  t.hasStrict(compileOne({ ...on, bodyBytesMax: Number.POSITIVE_INFINITY }), {
    rewrite: '/socket',
    websocket: true,
    passesEncodedSlash: false,
    isCaseSensitive: true,
    passesMethodOverride: true,
    passesTrailers: true,
    forwardsCredentials: true,
    bodyBytesMax: Number.POSITIVE_INFINITY,
  })
  t.hasStrict(compileOne({ bodyBytesMax: 0 }), {
    bodyBytesMax: 0,
    passesEncodedSlash: true,
    isCaseSensitive: false,
    passesMethodOverride: false,
    passesTrailers: false,
    websocket: false,
  })
})

t.test('routes with equal rules share their access and caching, others have their own', async (t) => {
  const admins = { roles: ['Admin'] }
  const different: readonly Partial<RouteOptions>[] = [
    {},
    admins,
    { roles: ['Admin', 'Staff'] },
    { auth: 'bearer' },
    { auth: 'optional' },
    { auth: 'none' },
    { scopes: ['Admin'] },
    { verifiedOnly: true },
    { issuers: ['one'] },
    { issuers: ['two'] },
  ]
  const compile = (all: readonly Partial<RouteOptions>[], origin?: string) =>
    compileRoutes(
      all.map((changes, index) => ({ ...options, path: `/${index}`, ...changes })),
      upstreams,
      undefined,
      origin,
    )
  const equal = compile([admins, { ...admins, name: 'other', websocket: true, bodyBytesMax: 1 }])
  t.equal(new Set(equal.map(({ access }) => access)).size, 1)
  t.equal(new Set(equal.map(({ caching }) => caching)).size, 1)
  for (const route of compile([...different, ...different])) {
    const alone = compileOne({ ...different[Number(route.prefix.slice(1)) % different.length] })
    t.strictSame([route.access, route.caching], [alone.access, alone.caching])
  }
  t.equal(new Set(compile([...different, ...different]).map(({ access }) => access)).size, different.length)
  const issuers = ['one']
  const told = compile([{ issuers }, { issuers }], 'https://api.example')
  t.equal(new Set(told.map(({ access }) => access)).size, 2, 'each has metadata of its own')
})

t.test('compiling a route without its upstream or with an ambiguous path throws', async (t) => {
  t.throws(() => compileRoutes([{ ...options, upstream: 'other' }], upstreams), /route it/)
  t.throws(() => compileRoutes([{ ...options, path: '/a/../b' }], upstreams), /route it/)
})
