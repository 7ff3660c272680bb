import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { readConfig } from '#config/load.ts'
import { formatProblem } from '#config/problem.ts'
import { compileRoutes } from '#gateway/routes/compile.ts'
import { createRouteTable } from '#gateway/routes/table.ts'
import { minimalConfig } from '../../config/config-fixtures.ts'
import { type Property, property } from '../property.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-fuzz-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'gateway.yaml')

/** Reads a config; it may have problems, each with its place, but nothing may be thrown. */
function assertRead(text: string): void {
  writeFileSync(file, text)
  const { config, problems } = readConfig({ file, env: {} })
  if ((config === undefined) !== problems.length > 0)
    throw new Error(`${problems.length} problems, and a config or none`)
  for (const problem of problems) {
    if (!formatProblem(problem).startsWith(`${file}:`)) throw new Error(formatProblem(problem))
  }
  // What passed the check must be fit for use.
  if (config)
    createRouteTable(compileRoutes(config.routes, new Map(config.upstreams.map((one) => [one.name, one]))))
}

const option = fc.oneof(
  fc.constantFrom(
    '',
    '/',
    '10s',
    '16KiB',
    'none',
    'any',
    '-1',
    '1e9',
    '0.0.0.0/0',
    'http://x:1',
    '~',
    '/a/%2e',
    '/A',
  ),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.string({ maxLength: 20 }),
)

const routeNames = [
  'name',
  'host',
  'path',
  'methods',
  'upstream',
  'auth',
  'roles',
  'encodedSlash',
  'caseSensitive',
  'methodOverride',
  'maxBody',
  'timeouts',
  'rateLimit',
  '__proto__',
  'constructor',
]
const sectionNames = [
  'version',
  'publicUrl',
  'listen',
  'ops',
  'portal',
  'trustedProxies',
  'upstreams',
  'routes',
  'identity',
  'tokens',
  'cookie',
  'cors',
  'keys',
  'store',
  'cache',
  'limits',
  'log',
  'tracing',
  'shutdown',
  'mail',
]

const tree = fc.record({
  sections: fc.dictionary(
    fc.constantFrom(...sectionNames),
    fc.oneof(
      option,
      fc.array(option, { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('host', 'port', 'path', 'driver', 'level', 'headers', 'id'), option, {
        maxKeys: 3,
      }),
    ),
    { maxKeys: 4 },
  ),
  route: fc.dictionary(fc.constantFrom(...routeNames), fc.oneof(option, fc.array(option, { maxLength: 3 })), {
    maxKeys: 4,
  }),
})

const example = readFileSync('config/gateway.example.yaml', 'utf8')
const shipped = readFileSync('config/gateway.yaml', 'utf8')
const damage = fc.record({
  text: fc.constantFrom(example, shipped),
  at: fc.nat(20_000),
  removed: fc.nat(30),
  inserted: fc.constantFrom(
    '',
    ' ',
    '\n',
    ':',
    '- ',
    '"',
    "'",
    '{',
    '}',
    '[',
    ']',
    '&a ',
    '*a',
    '!!',
    '#',
    '\t',
    '\0',
    '<<: ',
    '? ',
    '|',
    '%',
    '\u2028',
  ),
})

export const configProperties: readonly Property[] = [
  property('a config of any options is read, or each problem has its place', tree, ({ sections, route }) => {
    assertRead(
      JSON.stringify({ ...minimalConfig, routes: [{ ...minimalConfig.routes[0], ...route }], ...sections }),
    )
  }),
  property(
    'a damaged config is read, or each problem has its place',
    damage,
    ({ text, at, removed, inserted }) => {
      const start = at % text.length
      assertRead(text.slice(0, start) + inserted + text.slice(start + removed))
    },
  ),
]
