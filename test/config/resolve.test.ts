import { dirname, join } from 'node:path'
import t from 'tap'
import { loadConfig, readConfig } from '#config/load.ts'
import { load, minimalConfig, read, withRoute, withUpstream, writeFiles } from './config-fixtures.ts'

t.test('a config of one upstream and one route is complete', async (t) => {
  const folder = writeFiles(t, { 'config/gateway.yaml': JSON.stringify(minimalConfig) })
  const { config } = loadConfig({ file: join(folder, 'config/gateway.yaml'), env: {} })
  t.strictSame(config, {
    publicOrigin: 'http://localhost:8080',
    listen: {
      host: '127.0.0.1',
      port: 8080,
      requestTimeoutMs: 30_000,
      keepAliveTimeoutMs: 72_000,
      headBytesMax: 16_384,
      bodyRateMin: 500,
      http2: true,
      streamsMax: 100,
      workers: 1,
      tls: undefined,
      redirect: undefined,
    },
    ops: { host: '127.0.0.1', port: 9090, hosts: [] },
    decide: undefined,
    portal: {
      enabled: true,
      path: '/portal',
      host: undefined,
      origin: 'http://localhost:8080',
      url: 'http://localhost:8080/portal',
      sessionLifetimeMs: 43_200_000,
      requireSecondFactor: 'nobody',
      setupLinkLifetimeMs: 86_400_000,
      resetLinkLifetimeMs: 3_600_000,
      acceptsPasswords: true,
      branding: { name: 'Gatehouse', logo: undefined, color: undefined, darkColor: undefined },
      oidc: [],
    },
    mail: undefined,
    securityTxt: undefined,
    trustedProxies: [],
    clientCertificateHeader: 'none',
    upstreams: [
      {
        name: 'backend',
        targets: [{ url: new URL('http://127.0.0.1:3000'), weight: 1 }],
        resolve: 'first',
        balancing: 'roundRobin',
        health: { active: undefined, passive: undefined },
        headers: undefined,
        host: 'client',
        connectTimeoutMs: 2_000,
        responseTimeoutMs: 30_000,
        idleTimeoutMs: 60_000,
        retryAttempts: 1,
        connectionsMax: 128,
        protocol: 'http1',
        tls: { verify: true, ca: undefined, serverName: undefined, cert: undefined, key: undefined },
      },
    ],
    routes: [
      {
        name: 'all',
        host: undefined,
        path: '/',
        methods: undefined,
        upstream: 'backend',
        auth: 'any',
        roles: undefined,
        scopes: undefined,
        verifiedOnly: false,
        issuers: [],
        rewrite: undefined,
        responseHeaders: undefined,
        destination: 'forwarded',
        websocket: false,
        encodedSlash: 'auto',
        emptySegments: 'reject',
        caseSensitive: false,
        methodOverride: 'drop',
        trailers: 'drop',
        authorization: 'gateway',
        forwardCredentials: false,
        browser: { cookie: false, signIn: false },
        rateLimit: undefined,
        costHeader: undefined,
        costField: undefined,
        quotaCounts: 'requests',
        includeUsage: false,
        bodyBytesMax: 10_485_760,
        responseTimeoutMs: undefined,
        idleTimeoutMs: undefined,
      },
    ],
    identityHeaders: { id: 'X-User-Id', role: 'X-User-Role' },
    assertion: { enabled: false, header: 'X-Gatehouse-Assertion', lifetimeMs: 60_000 },
    issuers: [],
    plans: {},
    dpop: { proofLifetimeMs: 60_000, nonce: false },
    tokens: {
      issuer: 'http://localhost:8080',
      audience: 'gatehouse',
      algorithm: 'ES256',
      keys: [],
      accessLifetimeMs: 600_000,
      refreshLifetimeMs: 2_592_000_000,
      refreshIdleMs: 604_800_000,
      reuseGraceMs: 10_000,
      clockToleranceMs: 5_000,
      introspection: { roles: ['Admin'], scopes: ['introspect'] },
      revocationFeed: { enabled: false, readersMax: 100 },
    },
    cors: { origins: [], allowsAny: false },
    cookie: { name: 'refreshToken', path: '/api/v1/accounts', sameSite: 'Strict', isSecure: false },
    accessCookie: {
      enabled: false,
      name: 'accessToken',
      path: '/',
      lifetimeMs: 3_600_000,
      sameSite: 'Strict',
      isSecure: false,
    },
    keys: {
      accept: ['SecretKey'],
      prefix: 'gate',
      sealingKey: { kind: 'file', file: join(folder, 'data/sealing.key') },
      reveal: true,
      maxPerAccount: 20,
      remindMs: [604_800_000, 86_400_000],
    },
    events: [],
    store: { driver: 'sqlite', path: join(folder, 'data/gatehouse.db') },
    cache: { entriesMax: 100_000, ttlMs: 60_000, negativeTtlMs: 5_000, maxStaleMs: 600_000 },
    failures: { limit: 10, perMs: 60_000 },
    sessionsMax: 100,
    log: { level: 'info', format: 'auto', access: true },
    tracing: undefined,
    shutdown: { delayMs: 0, drainMs: 20_000 },
  })
})

t.test('in options 0 means 0, and unlimited means no limit', async (t) => {
  const tokens = { reuseGrace: '0s', clockTolerance: '0s' }
  const cache = { ttl: '0s', negativeTtl: '0s', maxStale: '0s' }
  const config = load(t, { ...withRoute({ maxBody: '0B' }), tokens, cache, ops: { port: 0 } })
  t.match(config.tokens, { reuseGraceMs: 0, clockToleranceMs: 0 })
  t.match(config.cache, { ttlMs: 0, negativeTtlMs: 0, maxStaleMs: 0 })
  t.equal(config.ops.port, 0)
  t.equal(config.routes[0]?.bodyBytesMax, 0)
  t.equal(load(t, withUpstream({ retries: { attempts: 0 } })).upstreams[0]?.retryAttempts, 0)
  t.equal(load(t, withRoute({ maxBody: 'unlimited' })).routes[0]?.bodyBytesMax, Number.POSITIVE_INFINITY)
})

t.test('health checks and ejection are on where configured, with defaults for the rest', async (t) => {
  const health = (options: object) => load(t, withUpstream({ health: options })).upstreams[0]?.health
  const active = { path: '/healthz', intervalMs: 5_000, timeoutMs: 2_000, unhealthyAfter: 3, healthyAfter: 2 }
  const passive = { maxFailures: 5, windowMs: 10_000, ejectForMs: 15_000 }
  t.strictSame(health({}), { active: undefined, passive: undefined })
  t.strictSame(health({ active: { path: '/healthz' } }), { active, passive: undefined })
  t.strictSame(health({ passive: {} }), { active: undefined, passive })
  const written = {
    active: { path: '/a?b=c', interval: '1s', timeout: '3s', unhealthyAfter: 1, healthyAfter: 1 },
    passive: { maxFailures: 1, window: '1m', ejectFor: '2m' },
  }
  t.strictSame(health(written), {
    active: { path: '/a?b=c', intervalMs: 1_000, timeoutMs: 3_000, unhealthyAfter: 1, healthyAfter: 1 },
    passive: { maxFailures: 1, windowMs: 60_000, ejectForMs: 120_000 },
  })
})

t.test('Redis is reached by URL, Sentinel or Cluster', async (t) => {
  const around = {
    files: { 'data/sealing.key': Buffer.alloc(32, 1).toString('base64') },
    env: { PASSWORD: 'p', SENTINEL: 's', URL: 'redis://:p@a/1' },
  }
  const store = (redis: object) =>
    load(t, { ...minimalConfig, store: { driver: 'redis', redis } }, around).store
  const nothing = { username: undefined, password: undefined, tls: undefined, keyPrefix: 'gh:' }
  t.strictSame(store({ url: { env: 'URL' } }), {
    driver: 'redis',
    ...nothing,
    replicas: 0,
    topology: { kind: 'single', url: 'redis://:p@a/1' },
  })
  const sentinel = { name: 'main', nodes: ['a:1', '[::1]:2'], password: { env: 'SENTINEL' } }
  const nodes = [
    { host: 'a', port: 1 },
    { host: '::1', port: 2 },
  ]
  t.strictSame(store({ sentinel, username: 'u', password: { env: 'PASSWORD' }, keyPrefix: '' }), {
    driver: 'redis',
    tls: undefined,
    username: 'u',
    password: 'p',
    keyPrefix: '',
    replicas: 1,
    topology: { kind: 'sentinel', name: 'main', nodes, password: 's' },
  })
  t.strictSame(store({ cluster: { nodes: ['a:1', '[::1]:2'] }, tls: { verify: false } }), {
    driver: 'redis',
    ...nothing,
    tls: { verify: false, ca: undefined },
    replicas: 1,
    topology: { kind: 'cluster', nodes },
  })
})

t.test('replicas: auto requires one replica wherever a failover is possible', async (t) => {
  const files = { 'data/sealing.key': Buffer.alloc(32, 1).toString('base64') }
  const nodes = ['a:1']
  const cases: readonly (readonly [redis: object, replicas: number])[] = [
    [{ url: 'redis://a' }, 0],
    [{ url: 'redis://a', replicas: 'auto' }, 0],
    [{ url: 'redis://a', replicas: 2 }, 2],
    [{ cluster: { nodes } }, 1],
    [{ cluster: { nodes }, replicas: 0 }, 0],
    [{ sentinel: { name: 'main', nodes }, replicas: 'auto' }, 1],
    [{ sentinel: { name: 'main', nodes }, replicas: 10 }, 10],
  ]
  for (const [redis, replicas] of cases) {
    const { store } = load(t, { ...minimalConfig, store: { driver: 'redis', redis } }, { files })
    t.match(store, { replicas }, JSON.stringify(redis))
  }
})

t.test('limits of routes and client addresses are resolved', async (t) => {
  const limitOf = (rateLimit: object) => load(t, withRoute({ rateLimit })).routes[0]?.rateLimit
  t.strictSame(limitOf({ limit: 600, per: '1m' }), { limit: 600, perMs: 60_000, by: 'account' })
  t.strictSame(limitOf({ limit: 1, per: '100ms', by: 'ip' }), { limit: 1, perMs: 100, by: 'ip' })
  const failuresOf = (failures: object) => load(t, { ...minimalConfig, limits: { failures } }).failures
  t.strictSame(failuresOf({ limit: 3, per: '1h' }), { limit: 3, perMs: 3_600_000 })
  t.strictSame(failuresOf({ per: '1s' }), { limit: 10, perMs: 1_000 }, 'each has a default of its own')
})

t.test('the resolved config is deeply frozen', async (t) => {
  const config = load(t, { ...withRoute({ methods: ['GET'], roles: ['A'] }), trustedProxies: ['10.0.0.1'] })
  t.strictSame(unfrozen(config, 'config'), [])
  t.throws(() => Object.assign(config.listen, { port: 1 }), TypeError)
})

t.test('two resolved configs share no objects', async (t) => {
  const first = read(t, minimalConfig)
  const second = read(t, { ...minimalConfig, listen: { port: 1 }, tokens: { audience: 'other' } })
  t.match(first.tree, { listen: { port: 8080 }, tokens: { audience: 'gatehouse' } })
  t.match(second.tree, { listen: { port: 1 }, tokens: { audience: 'other' } })
  t.match(read(t, minimalConfig).tree, { listen: { port: 8080 }, tokens: { audience: 'gatehouse' } })
})

t.test('the shipped config is valid, and keeps its data apart from that of other configs', async (t) => {
  const { config, file } = readConfig({ file: 'config/gateway.yaml', env: {} })
  t.match(config, { publicOrigin: 'http://localhost:8080', listen: { host: '127.0.0.1', port: 8080 } })
  t.match(config?.store, { path: join(process.cwd(), dirname(file), '../data/demo/gatehouse.db') })
})

/** Paths of the maps and lists that are not frozen. */
function unfrozen(value: unknown, place: string): string[] {
  if (typeof value !== 'object' || value === null || value instanceof URL) return []
  const below = Object.entries(value).flatMap(([name, member]) => unfrozen(member, `${place}.${name}`))
  return Object.isFrozen(value) ? below : [place, ...below]
}

t.test('timeouts of a route are from 10 ms to a day, each by itself', async (t) => {
  const [route] = load(t, withRoute({ timeouts: { idle: '10ms' } })).routes
  t.hasStrict(route, { idleTimeoutMs: 10, responseTimeoutMs: undefined })
  t.equal(load(t, withRoute({ timeouts: { idle: '24h' } })).routes[0]?.idleTimeoutMs, 86_400_000)
  for (const idle of ['9ms', '0s', '86401s', '30d'])
    t.throws(() => load(t, withRoute({ timeouts: { idle } })), /routes\[0\]\.timeouts\.idle/, idle)
})
