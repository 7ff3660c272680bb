import { join } from 'node:path'
import t from 'tap'
import { loadConfig, readConfig } from '#config/load.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { minimalConfig, problems, writeFiles } from './config-fixtures.ts'

t.test('all config problems are reported at once, in file order, with line and column', async (t) => {
  const text = `
publicUrl: http://localhost:8080/base
listen:
  port: 70000
  prot: 8080
upstreams:
  orders:
    targets: [{ url: 'ftp://10.0.0.11' }]
    connexions: 4
routes:
  - name: orders
    path: orders
    upstream: order
    auth: all
  - name: orders
    path: /a//b
    upstream: orders
    auth: none
    roles: [Admin]
keys: { sealingKey: plain-text }
tokens:
  accessLifetime: 10
`
  t.strictSame(problems(t, text), [
    '2:12  publicUrl: must be an origin: no path, query or fragment',
    '4:9  listen.port: must be a whole number from 0 to 65535',
    '5:3  listen.prot: unknown option, did you mean "port"?',
    '8:22  upstreams.orders.targets[0].url: must be a URL such as http://10.0.0.11:3000',
    '9:5  upstreams.orders.connexions: unknown option, did you mean "connections"?',
    '12:11  routes[0].path: has an invalid format: it must begin with /',
    '13:15  routes[0].upstream: unknown upstream "order", did you mean "orders"?',
    '14:11  routes[0].auth: must be one of secretKey, bearer, any, optional, none, deny',
    '15:11  routes[1].name: duplicate route name "orders"',
    '16:11  routes[1].path: must be a plain path: no query, dot segment, empty segment, parameter (;), backslash or encoded slash',
    '19:5  routes[1].roles: cannot be combined with auth: none, which allows anonymous requests',
    '20:21  keys.sealingKey: is never written inline: write { file: PATH } or { env: NAME }',
    '22:19  tokens.accessLifetime: must be a duration such as 250ms, 30s, 10m, 24h or 30d, from 1s to 24h: add the unit, such as 10s or 10m',
  ])
})

t.test('a missing option is reported at the item that lacks it', async (t) => {
  const text = `upstreams:
  a: {}
  b:
    connections: 4
  c: { targets: [{ weight: 1 }] }
routes:
  - name: one
    path: /one
  - { upstream: a, auth: any }
tokens:
  keys:
    - kid: k
`
  t.strictSame(problems(t, text), [
    '2:6  upstreams.a.targets: is missing',
    '4:5  upstreams.b.targets: is missing',
    '5:18  upstreams.c.targets[0].url: is missing',
    '7:5  routes[0].auth: is missing',
    '7:5  routes[0].upstream: is missing',
    '9:5  routes[1].name: is missing',
    '9:5  routes[1].path: is missing',
    '12:7  tokens.keys[0].use: is missing',
  ])
})

t.test('upstreams and routes with numeric names are reported like any other', async (t) => {
  const text = "upstreams:\n  1: {}\n  '2': { targetz: [] }\nroutes: []\n"
  t.strictSame(problems(t, text), [
    '2:6  upstreams.1.targets: is missing',
    '3:8  upstreams.2.targets: is missing',
    '3:10  upstreams.2.targetz: unknown option, did you mean "targets"?',
  ])
})

t.test('problems of overrides are reported after those of the file, by name', async (t) => {
  const text = `${JSON.stringify(minimalConfig)}\n`.replace('{', '{ "nope": 1, ')
  const around = {
    env: { GATEHOUSE__LISTEN__PORT: 'x', GATEHOUSE__LOG__LEVL: 'info' },
    settings: ['ops.port=y'],
  }
  const [first, ...others] = problems(t, text, around)
  t.equal(first, '1:3  nope: unknown option')
  t.strictSame(others.toSorted(), [
    '$GATEHOUSE__LISTEN__PORT  listen.port: must be a whole number from 0 to 65535',
    '$GATEHOUSE__LOG__LEVL  log.levl: unknown option, did you mean "level"?',
    '--set ops.port  ops.port: must be a whole number from 0 to 65535',
  ])
})

t.test('loading a config with problems throws an error with all of them', async (t) => {
  const folder = writeFiles(t, { 'gateway.yaml': 'upstreams: {}\nroutes: {}\nnope: 1\n' })
  const file = join(folder, 'gateway.yaml')
  t.equal(readConfig({ file, env: {} }).config, undefined)
  const thrown = t.throws(() => loadConfig({ file, env: {} }), OperatorError)
  t.match(thrown, {
    message: [
      'invalid config, 2 problems:',
      `  ${file}:2:9  routes: must be a list`,
      `  ${file}:3:1  nope: unknown option`,
    ].join('\n'),
    hint: `Fix ${file} and check the config with: gatehouse check --config ${file}`,
  })
})

t.test('the remedy for a wrong override names the override, not the file', async (t) => {
  const folder = writeFiles(t, { 'good.yaml': JSON.stringify(minimalConfig), 'bad.yaml': 'routes: []\n' })
  const hintFor = (name: string, env: Readonly<Record<string, string>>, settings: readonly string[] = []) => {
    const file = join(folder, name)
    const thrown = t.throws(() => loadConfig({ file, env, settings }), OperatorError)
    return String((thrown as OperatorError).hint).replaceAll(file, 'FILE')
  }
  const rest = 'and check the config with: gatehouse check --config FILE'
  const variable = { GATEHOUSE__LISTEN__PORT: 'x' }
  t.equal(hintFor('good.yaml', variable), `Fix the environment ${rest}`)
  t.equal(hintFor('good.yaml', {}, ['listen.port=x']), `Fix --set ${rest}`)
  t.equal(hintFor('good.yaml', variable, ['ops.port=x']), `Fix the environment and --set ${rest}`)
  t.equal(hintFor('bad.yaml', variable), `Fix FILE and the environment ${rest}`)
  t.equal(hintFor('bad.yaml', {}), `Fix FILE ${rest}`)
})

t.test('the first hundred of very many problems are listed, with the total', async (t) => {
  const unknown = Array.from({ length: 150 }, (_, index) => `nope${index}: 1\n`)
  const folder = writeFiles(t, { 'gateway.yaml': `upstreams: {}\nroutes: []\n${unknown.join('')}` })
  const file = join(folder, 'gateway.yaml')
  const thrown = t.throws(() => loadConfig({ file, env: {} }), OperatorError)
  const [first, ...lines] = thrown instanceof Error ? thrown.message.split('\n') : []
  t.equal(first, 'invalid config, 150 problems:')
  t.equal(lines.length, 101)
  t.strictSame(lines.slice(-2), [`  ${file}:102:1  nope99: unknown option`, '  and 50 more'])
})

t.test('the config file is --config, else GATEHOUSE_CONFIG, else config/gateway.yaml', async (t) => {
  const folder = writeFiles(t, {
    'a.yaml': JSON.stringify(minimalConfig),
    'b.yaml': JSON.stringify(minimalConfig),
  })
  const a = join(folder, 'a.yaml')
  const b = join(folder, 'b.yaml')
  t.equal(readConfig({ file: a, env: { GATEHOUSE_CONFIG: b } }).file, a)
  t.equal(readConfig({ env: { GATEHOUSE_CONFIG: b } }).file, b)
  for (const env of [{}, { GATEHOUSE_CONFIG: '' }]) {
    t.equal(readConfig({ env }).file, 'config/gateway.yaml')
  }
})
