import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'

/** Where each library may be imported, as the start of a path under src/. */
const homes: Readonly<Record<string, readonly string[]>> = {
  fastify: ['endpoints/', 'library/fastify/'],
  'fastify-plugin': ['library/fastify/'],
  jose: ['library/verify/'],
  '@fastify/http-proxy': ['library/fastify/proxy/'],
  ws: ['library/fastify/proxy/web-sockets.ts'],
  '@fastify/cookie': ['api/api.ts'],
  'node:sqlite': ['store/sqlite/'],
  ioredis: ['store/redis/'],
  'fast-jwt': ['identity/tokens/jwt.ts'],
  'prom-client': ['metrics/'],
  'lru-cache': ['cache/'],
  pino: ['platform/log/log.ts'],
  yaml: ['config/'],
  ajv: ['config/compile-schema.ts', 'config/validate.ts', 'api/validate.ts'],
  'openid-client': ['oidc/'],
  nodemailer: ['accounts/mails/mailer.ts'],
  otpauth: ['platform/secrets/one-time-codes.ts'],
  uqr: ['portal/views/qr-code.ts'],
  'csv-parse/sync': ['accounts/csv.ts'],
}

interface Source {
  readonly path: string
  readonly text: string
  readonly imports: readonly string[]
}

const sources: readonly Source[] = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join('src', path), 'utf8')
    return {
      path,
      text,
      imports: [...text.matchAll(/\b(?:from |import\()'([^']+)'/g)].map(([, name]) => name ?? ''),
    }
  })

t.test('every library is imported in its own place only', async (t) => {
  const strays = sources.flatMap(({ path, imports }) =>
    imports
      .filter((name) => !name.startsWith('.') && (homes[name] || !name.startsWith('node:')))
      .filter((name) => !(homes[name] ?? []).some((home) => path.startsWith(home)))
      .map((name) => `${path} imports ${name}`),
  )
  t.strictSame(strays, [])
})

t.test('process.env is read in config only', async (t) => {
  const strays = sources.filter(
    ({ path, text }) => text.includes('process.env') && !path.startsWith('config/'),
  )
  t.strictSame(
    strays.map(({ path }) => path),
    [],
  )
})

t.test('accounts, tokens, auth, secrets, store and cache know no HTTP', async (t) => {
  const strays = sources.filter(
    ({ path, imports }) =>
      /^(?:accounts|tokens|auth|secrets|store|cache)\//.test(path) &&
      imports.some((name) => /^node:https?$|fastify|\/(?:http|http1|proxy|endpoints)\//.test(name)),
  )
  t.strictSame(
    strays.map(({ path }) => path),
    [],
  )
})

t.test('the whole store is known where parts are put together, elsewhere only slices of it', async (t) => {
  const homes = /^(?:store\/|assembly\/|cli\/operator\.ts$|explain\/read-only-auth\.ts$)/
  const strays = sources.filter(
    ({ path, imports }) => !homes.test(path) && imports.some((name) => name.endsWith('/store/store.ts')),
  )
  t.strictSame(
    strays.map(({ path }) => path),
    [],
  )
})

t.test(
  'http1 knows nothing of the gateway, and no framework: only node:net, exchanges and the platform',
  async (t) => {
    const strays = sources.flatMap(({ path, imports }) =>
      path.startsWith('http1/')
        ? imports
            .filter((name) => !/^(?:\.\/|\.\.\/(?:platform|exchange)\/|node:(?:net|tls|crypto)$)/.test(name))
            .map((name) => `${path} imports ${name}`)
        : [],
    )
    t.strictSame(strays, [])
  },
)

t.test('pages, which portal and status share, know neither', async (t) => {
  const strays = sources.filter(
    ({ path, imports }) => path.startsWith('pages/') && imports.some((name) => name.startsWith('../')),
  )
  t.strictSame(
    strays.map(({ path }) => path),
    [],
  )
})

/** The rooms from the top down, as in docs/decisions/0025-rooms.md. */
const rooms = [
  ...[
    'main.ts',
    'cli',
    'library',
    'gateway.ts',
    'explain',
    'fleet',
    'assembly',
    'config',
    'endpoints',
    'portal',
    'demo',
    'decide',
  ],
  ...[
    'http',
    'status',
    'tracing',
    'metrics',
    'cache',
    'proxy',
    'auth',
    'oidc',
    'issuers',
    'tokens',
    'mail',
    'accounts',
  ],
  ...[
    'upstream',
    'store',
    'http2',
    'http1',
    'exchange',
    'log',
    'secrets',
    'errors',
    'platform',
    'routes',
    'pages',
  ],
]

t.test('a room imports only from rooms below it, types included', async (t) => {
  const roomOf = (path: string) => path.split('/')[0] ?? ''
  t.strictSame([...new Set(sources.map(({ path }) => roomOf(path)))].toSorted(), rooms.toSorted())
  const upward = sources.flatMap(({ path, imports }) =>
    imports
      .filter((name) => name.startsWith('.'))
      .map((name) => normalize(join(dirname(path), name)))
      .filter((target) => rooms.indexOf(roomOf(target)) < rooms.indexOf(roomOf(path)))
      .map((target) => `${path} imports ${target}`),
  )
  t.strictSame(upward, [])
})

t.test('what backends and callers import needs nothing else of Gatehouse, and callers no Node', async (t) => {
  const strays = sources.flatMap(({ path, imports }) => {
    const [, entry = ''] = /^library\/(verify|client)[/.]/.exec(path) ?? []
    const allowed = entry === 'verify' ? /^(?:\.\/|jose$)/ : /^\.\//
    return entry === ''
      ? []
      : imports.filter((name) => !allowed.test(name)).map((name) => `${path} imports ${name}`)
  })
  t.strictSame(strays, [])
})

t.test('no folder has more than 30 files of its own', async (t) => {
  const byFolder = Map.groupBy(sources, ({ path }) => dirname(path))
  const crowded = [...byFolder].filter(([, files]) => files.length > 30).map(([folder]) => folder)
  t.strictSame(crowded, [])
})

t.test('imports make no circle', async (t) => {
  const graph = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter((name) => name.startsWith('.')).map((name) => normalize(join(dirname(path), name))),
    ]),
  )
  t.strictSame(findCircle(graph), [])
})

t.test('a file is at most 250 lines, the table of errors aside', async (t) => {
  const long = sources.filter(
    ({ path, text }) => path !== 'platform/errors/codes.ts' && text.split('\n').length > 251,
  )
  t.strictSame(
    long.map(({ path }) => path),
    [],
  )
})

/** The files of one circle, in order; empty where there is none. */
function findCircle(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>()
  function visit(path: string, trail: readonly string[]): readonly string[] {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (done.has(path)) return []
    for (const next of graph.get(path) ?? []) {
      const circle = visit(next, [...trail, path])
      if (circle.length > 0) return circle
    }
    done.add(path)
    return []
  }
  for (const path of graph.keys()) {
    const circle = visit(path, [])
    if (circle.length > 0) return circle
  }
  return []
}
