import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import t from 'tap'

/** Where each library may be imported, as the start of a path under src/. */
const homes: Readonly<Record<string, readonly string[]>> = {
  fastify: ['api/', 'library/fastify'],
  'fastify-plugin': ['library/fastify.ts'],
  jose: ['library/verify'],
  '@fastify/http-proxy': ['library/fastify/proxy/'],
  ws: ['library/fastify/proxy/web-socket-options.ts'],
  '@fastify/cookie': ['api/api.ts'],
  'node:sqlite': ['store/sqlite/'],
  ioredis: ['store/redis/'],
  'fast-jwt': ['identity/tokens/jwt.ts'],
  'prom-client': ['ops/metrics/'],
  'lru-cache': ['identity/cache/'],
  pino: ['platform/log/log.ts'],
  yaml: ['config/'],
  ajv: ['config/compile-schema.ts', 'config/validate.ts', 'api/validate-with-schemas.ts'],
  'openid-client': ['identity/oidc/'],
  nodemailer: ['accounts/mails/mailer.ts'],
  '@simplewebauthn/server': ['identity/second-factor/webauthn.ts'],
  '@simplewebauthn/server/helpers': ['identity/second-factor/webauthn.ts'],
  otpauth: ['platform/secrets/one-time-codes.ts'],
  negotiator: ['portal/read-assets.ts', 'portal/portal-request.ts'],
  uqr: ['portal/views/second-factor.ts'],
  'csv-parse/sync': ['accounts/csv.ts'],
}

/** The rooms by floors from the top down, as in docs/decisions/0025-rooms.md: each imports only from floors below. */
const floors = [
  ['main.ts'],
  ['cli', 'library'],
  ['runtime'],
  ['api', 'config'],
  ['portal'],
  ['gateway'],
  ['identity'],
  ['accounts', 'ops'],
  ['store', 'http'],
  ['platform'],
]

/** The folders of `gateway/` from the top down: each imports only from those below it. */
const gatewayFolders = ['server', 'lane', 'gate', 'forward', 'browser', 'refusals', 'arrival', 'routes']

interface Source {
  /** Below src/. */
  readonly path: string
  readonly text: string
  /** Of libraries the name, of our own files the path below src/. */
  readonly imports: readonly string[]
  /** As they are spelled. */
  readonly specifiers: readonly string[]
}

const sources: readonly Source[] = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join('src', path), 'utf8')
    const specifiers = [...text.matchAll(/\b(?:from |import\()'([^']+)'/g)].map(([, name]) => name ?? '')
    return { path, text, specifiers, imports: specifiers.map((name) => pathOf(name, path)) }
  })

function pathOf(name: string, importer: string): string {
  if (name.startsWith('#')) return name.slice(1)
  return name.startsWith('.') ? normalize(join(dirname(importer), name)) : name
}

function roomOf(path: string): string {
  return path.split('/')[0] ?? ''
}

function floorOf(path: string): number {
  return floors.findIndex((rooms) => rooms.includes(roomOf(path)))
}

function isOurs(path: string): boolean {
  return path.endsWith('.ts')
}

t.test('every library is imported in its own place only', async (t) => {
  const strays = sources.flatMap(({ path, imports }) =>
    imports
      .filter((name) => !isOurs(name) && (homes[name] || !name.startsWith('node:')))
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

t.test('a room imports only from rooms below it, types included', async (t) => {
  t.strictSame([...new Set(sources.map(({ path }) => roomOf(path)))].toSorted(), floors.flat().toSorted())
  const upward = sources.flatMap(({ path, imports }) =>
    imports
      .filter((name) => isOurs(name) && roomOf(name) !== roomOf(path) && floorOf(name) <= floorOf(path))
      .map((name) => `${path} imports ${name}`),
  )
  t.strictSame(upward, [])
})

t.test(
  'a file of another room is imported by its #, one of the same room by its relative path',
  async (t) => {
    const strays = sources.flatMap(({ path, specifiers }) =>
      specifiers
        .filter((name) => isOurs(name) && path !== 'main.ts')
        .filter((name) => (roomOf(pathOf(name, path)) === roomOf(path)) === name.startsWith('#'))
        .map((name) => `${path} imports ${name}`),
    )
    t.strictSame(strays, [])
  },
)

t.test('identity, accounts and store know nothing of HTTP', async (t) => {
  const strays = sources.flatMap(({ path, imports }) =>
    /^(?:identity|accounts|store)\//.test(path)
      ? imports
          .filter((name) => /^(?:node:https?$|http\/)/.test(name))
          .map((name) => `${path} imports ${name}`)
      : [],
  )
  t.strictSame(strays, [])
})

t.test('the whole store is known where parts are put together, elsewhere only slices of it', async (t) => {
  const homes = /^(?:store\/|runtime\/assembly\/|cli\/operator\.ts$|cli\/explain\/read-only-auth\.ts$)/
  const strays = sources.filter(
    ({ path, imports }) => !homes.test(path) && imports.includes('store/store.ts'),
  )
  t.strictSame(
    strays.map(({ path }) => path),
    [],
  )
})

t.test('the two sides of http/ know nothing of each other, and what they share knows neither', async (t) => {
  function sideOf(path: string): 'server' | 'targets' | undefined {
    if (path.startsWith('http/server/')) return 'server'
    return /^http\/(?:outgoing|upstream)\//.test(path) ? 'targets' : undefined
  }
  const strays = sources.flatMap(({ path, imports }) =>
    path.startsWith('http/')
      ? imports
          .filter((name) => sideOf(name) !== undefined && sideOf(name) !== sideOf(path))
          .map((name) => `${path} imports ${name}`)
      : [],
  )
  t.strictSame(strays, [])
})

t.test('the server of http/, and what both sides share, need only sockets and the platform', async (t) => {
  const strays = sources.flatMap(({ path, imports }) =>
    /^http\/(?!outgoing\/|upstream\/)/.test(path)
      ? imports
          .filter((name) => !/^(?:http\/|platform\/|node:(?:net|tls|crypto|stream)$)/.test(name))
          .map((name) => `${path} imports ${name}`)
      : [],
  )
  t.strictSame(strays, [])
})

t.test('what backends and callers import needs nothing else of Gatehouse, and callers no Node', async (t) => {
  const shared = ['library/credential.ts', 'library/http-url.ts']
  const strays = sources.flatMap(({ path, imports }) => {
    const [, entry = ''] = /^library\/(verify|client|credential|http-url)[/.-]/.exec(path) ?? []
    return entry === ''
      ? []
      : imports
          .filter((name) => !new RegExp(`^library/${entry}[/-]`).test(name))
          .filter((name) => !shared.includes(name) && !(entry === 'verify' && name === 'jose'))
          .map((name) => `${path} imports ${name}`)
  })
  t.strictSame(strays, [])
})

t.test('the map in CONTRIBUTING.md names every folder of src, and no other', async (t) => {
  const rows = [...mapOfFolders().matchAll(/^\| `([\w.]+\/?)` \| (.*) \|$/gm)]
  const rooms = new Set(sources.map(({ path }) => roomOf(path)))
  const named = rows.flatMap(([, name = '', text = '']) => {
    const isRoom = rooms.has(name.replace(/\/$/, ''))
    const path = isRoom ? name : `gateway/${name}`
    return [path, ...[...text.matchAll(/`([\w/-]+\/)`/g)].map(([, folder = '']) => path + folder)]
  })
  const folders = readdirSync('src', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${relative('src', join(entry.parentPath, entry.name))}/`)
  t.strictSame(named.toSorted(), [...folders, 'main.ts'].toSorted())
})

/** The two tables at the top of CONTRIBUTING.md. */
function mapOfFolders(): string {
  const text = readFileSync('CONTRIBUTING.md', 'utf8')
  return text.slice(text.indexOf('## The map'), text.indexOf('Where is it decided?'))
}

t.test('no folder has more than 30 files of its own', async (t) => {
  const byFolder = Map.groupBy(sources, ({ path }) => dirname(path))
  const crowded = [...byFolder].filter(([, files]) => files.length > 30).map(([folder]) => folder)
  t.strictSame(crowded, [])
})

t.test('what is opened can be closed: `openX` gives something with a `close`', async (t) => {
  const opens = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:async )?function (open[A-Z]\w*)[\s\S]*?^}$/gm)].map(
      ([body, name = '']) => ({
        body,
        name: `${path} ${name}`,
      }),
    ),
  )
  t.ok(opens.length > 20)
  t.strictSame(
    opens.filter(({ body }) => !isClosable(body)).map(({ name }) => name),
    [],
  )
})

/** By its body, or by the interface that it says to return, or to return a map of. */
function isClosable(body: string): boolean {
  if (/\b(?:close|shutDown)\w*\b/.test(body)) return true
  const [, named = ''] = /^[\s\S]*?\): (?:Promise<|readonly )*(\w+)/.exec(body) ?? []
  const map = new RegExp(`^export type ${named} = ReadonlyMap<string, (\\w+)>$`, 'm')
  const result = sources.flatMap(({ text }) => map.exec(text)?.[1] ?? [])[0] ?? named
  const declaration = new RegExp(`^export (?:interface|class) ${result}\\b[\\s\\S]*?^}$`, 'm')
  return sources.some(({ text }) => /\b(?:close|shutDown|end)\(/.test(declaration.exec(text)?.[0] ?? ''))
}

t.test('imports make no circle', async (t) => {
  const graph = new Map(sources.map(({ path, imports }) => [path, imports.filter(isOurs)]))
  t.strictSame(findCircle(graph), [])
})

/** Where a folder, and each file beside the folders, is imported only from one side. */
const orderedRooms = [
  'accounts',
  'api',
  'cli',
  'config',
  'http',
  'identity',
  'library',
  'ops',
  'platform',
  'portal',
  'runtime',
  'store',
]

t.test('the folders of a room make no circle', async (t) => {
  for (const room of orderedRooms) {
    const partOf = (path: string) => path.split('/').slice(0, 2).join('/')
    const own = sources.filter(({ path }) => roomOf(path) === room)
    const graph = new Map(
      [...Map.groupBy(own, ({ path }) => partOf(path))].map(([part, files]) => [
        part,
        files
          .flatMap(({ imports }) => imports.filter((path) => isOurs(path) && roomOf(path) === room))
          .map(partOf)
          .filter((other) => other !== part),
      ]),
    )
    t.strictSame(findCircle(graph), [], room)
  }
})

t.test('a folder of gateway/ imports only from those below it, types included', async (t) => {
  const folderOf = (path: string) => path.split('/')[1] ?? ''
  const own = sources.filter(({ path }) => roomOf(path) === 'gateway')
  t.strictSame([...new Set(own.map(({ path }) => folderOf(path)))].toSorted(), gatewayFolders.toSorted())
  const upward = own.flatMap(({ path, imports }) =>
    imports
      .filter((name) => isOurs(name) && roomOf(name) === 'gateway')
      .filter((name) => gatewayFolders.indexOf(folderOf(name)) < gatewayFolders.indexOf(folderOf(path)))
      .map((name) => `${path} imports ${name}`),
  )
  t.strictSame(upward, [])
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

t.test('a line of a comment has at most 120 columns', async (t) => {
  const wide = sources.flatMap(({ path, text }) =>
    [...text.split('\n').entries()]
      .filter(([, line]) => line.length > 120 && /^\s*(?:\/\/|\/?\*)/.test(line))
      .map(([at]) => `${path}:${at + 1}`),
  )
  t.strictSame(wide, [])
})

t.test('a file imports each module once', async (t) => {
  const twice = sources.flatMap(({ path, text }) => {
    const modules = [...text.matchAll(/^import [^'"]*?from '([^']+)'/gm)].map(([, name = '']) => name)
    return modules.filter((name, at) => modules.indexOf(name) !== at).map((name) => `${path} imports ${name}`)
  })
  t.strictSame(twice, [])
})

t.test('a JSDoc comment stands before the declaration that it is about', async (t) => {
  const dangling = sources.flatMap(({ path, text }) => {
    const lines = text.split('\n').map((line) => line.trim())
    return [...lines.keys()].filter((at) => endsDangling(lines, at)).map((at) => `${path}:${at + 1}`)
  })
  t.strictSame(dangling, [])
})

/** Whether a JSDoc comment ends in this line, and what follows is no declaration. */
function endsDangling(lines: readonly string[], at: number): boolean {
  const [line = '', next = ''] = lines.slice(at)
  const isDoc = line.startsWith('/**') || line.startsWith('*')
  return isDoc && line.endsWith('*/') && /^(?:$|[}/]|(?:import|return|throw|if|for|await)\b)/.test(next)
}

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
