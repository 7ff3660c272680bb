import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { programs } from '../setup/programs.ts'
import { programsOf, sourcesOf } from './declarations.ts'
import { allTestFiles, isQuick } from './select.ts'

/** What is promised to those who run a gateway, and the quick tests that look whether it is kept. */
const promises: Readonly<Record<string, readonly string[]>> = {
  'a revocation reaches every instance, with all messages lost too': [
    'instances/revocation',
    'runtime/fleet/revocation',
  ],
  'a reset key ends its sessions, tokens and WebSockets': [
    'gateway/keys-revoke',
    'gateway/key-overlap',
    'runtime/fleet/revocation',
  ],
  'known callers are served while the store is away, unknown ones get 503': [
    'gateway/store-outage',
    'identity/outage',
  ],
  'a refresh that was not acknowledged costs nothing': ['gateway/refresh-response-lost'],
  'a gateway that stood still trusts nothing it has read before': ['instances/frozen'],
  'a write that was answered survives a kill': ['crash/sqlite'],
  'SIGTERM under load fails no request': ['runtime/fleet/shutdown', 'gateway/shutdown'],
  'bytes on an idle upstream connection close it': ['gateway/forward/response-isolation'],
  'a reload under load fails no request': ['gateway/reload-load'],
  'a worker that dies is replaced': ['runtime/fleet/backoff'],
  'stored credentials are digests, and no secret is shown': ['security/stolen-store', 'security/secrets'],
  'other proxies get decisions': ['gateway/decide/decide', 'gateway/decide/envoy'],
  'a Fastify app gets the same gateway': ['library/fastify/require', 'library/fastify/proxy'],
  'backends verify assertions': ['library/verify/verifier'],
  'callers get, keep and refresh tokens': ['library/client/client'],
}

const quick = allTestFiles().filter(isQuick)

t.test('every promise of SECURITY.md has a quick test', async (t) => {
  const table = readFileSync('SECURITY.md', 'utf8').split('## What is promised')[1]?.split('\n## ')[0] ?? ''
  const rows = [...table.matchAll(/^\| ([^|]+) \| (.*`test\/.*) \|$/gm)]
  t.ok(rows.length > 15)
  for (const [, promise = '', places = ''] of rows) {
    const named = [...places.matchAll(/`(test\/[^`]+)`/g)].map(([, place = '']) => place)
    const tests = named.flatMap((place) =>
      quick.filter((file) => sourcesOf(file).has(place) || file.startsWith(place)),
    )
    t.ok(tests.length > 0, promise)
  }
})

t.test('every promise to those who run a gateway has a quick test', async (t) => {
  for (const [promise, names] of Object.entries(promises))
    for (const name of names) t.ok(quick.includes(`test/${name}.test.ts`), `${promise}: ${name}`)
})

t.test('a test needs only programs that are known, and each that is known is needed', async (t) => {
  const needed = new Set(allTestFiles().flatMap(programsOf))
  t.strictSame([...needed].toSorted(), Object.keys(programs).toSorted())
})

const starters =
  /\b(?:spawn|spawnSync|exec|execSync|execFile|execFileSync|run|runFile|runClient|execute|output)\(\s*/
const guards = /\b(?:assertProgram|isOnPath|without)\(/

t.test('a quick test starts no program that it does not name', async (t) => {
  const sources = [...new Set(quick.flatMap((file) => [...sourcesOf(file)]))]
  const starting = sources
    .filter((source) => source.startsWith('test/') && existsSync(source))
    .map((source) => ({ source, started: startedBy(readFileSync(source, 'utf8')) }))
    .filter(({ started }) => started.length > 0)
  const strays = quick.flatMap((file) =>
    starting
      .filter(({ source }) => sourcesOf(file).has(source))
      .flatMap(({ source, started }) => started.map((program) => ({ source, program })))
      .filter(({ program }) => !programsOf(file).includes(program))
      .map(({ source, program }) => `${file}: ${program} in ${source}`),
  )
  t.strictSame(strays, [])
})

/** Programs of the table that a source starts, unless it asks first whether they are there. */
function startedBy(text: string): readonly string[] {
  return Object.keys(programs).filter(
    (name) =>
      new RegExp(`${starters.source}\\[?'${name}'`).test(text) &&
      !new RegExp(`${guards.source}[^)]*'${name}'`).test(text),
  )
}
