import t from 'tap'
import type { Config } from '#config/config.ts'
import { load, minimalConfig } from './config-fixtures.ts'

const env = (name: string, value: string) => ({ env: { [name]: value } })

t.test('an environment variable names its option in any usual spelling', async (t) => {
  const names = [
    'KEEPALIVETIMEOUT',
    'KEEP_ALIVE_TIMEOUT',
    'keepAliveTimeout',
    'KeepAliveTimeout',
    'keep_alive_timeout',
    'KEEPALIVE_TIMEOUT',
  ]
  for (const name of names) {
    const config = load(t, minimalConfig, env(`GATEHOUSE__LISTEN__${name}`, '9s'))
    t.equal(config.listen.keepAliveTimeoutMs, 9_000, name)
  }
  t.equal(load(t, minimalConfig, env('GATEHOUSE__listen__Port', '9')).listen.port, 9)
})

t.test('a variable of another prefix is ignored', async (t) => {
  const others = {
    GATEHOUSE_CONFIG: 'x',
    GATEHOUSE_LISTEN__PORT: '1',
    gatehouse__LISTEN__PORT: '1',
    LISTEN__PORT: '1',
  }
  t.equal(load(t, minimalConfig, { env: others }).listen.port, 8080)
})

t.test('an override names an upstream by name, a list item by number', async (t) => {
  const upstream = { targets: [{ url: 'http://a' }, { url: 'http://b' }] }
  const options = { upstreams: { backend: upstream, 'my-Orders': upstream }, routes: minimalConfig.routes }
  const { upstreams, routes } = load(t, options, {
    env: {
      GATEHOUSE__UPSTREAMS__BACKEND__TARGETS__1__URL: 'http://c:1',
      GATEHOUSE__UPSTREAMS__MY_ORDERS__CONNECTIONS: '7',
      GATEHOUSE__ROUTES__0__ROLES__0: 'Admin',
    },
  })
  t.strictSame(
    upstreams[0]?.targets.map(({ url }) => url.origin),
    ['http://a', 'http://c:1'],
  )
  t.strictSame(
    upstreams.map(({ name, connectionsMax }) => [name, connectionsMax]),
    [
      ['backend', 128],
      ['my-Orders', 7],
    ],
  )
  t.strictSame(routes[0]?.roles, ['Admin'])
})

type Find = (config: Config) => unknown

const values: readonly (readonly [option: string, value: string, find: Find, expected: unknown])[] = [
  ['listen.port', '0', ({ listen }) => listen.port, 0],
  ['log.access', 'false', ({ log }) => log.access, false],
  ['tokens.audience', '12', ({ tokens }) => tokens.audience, '12'],
  ['tokens.audience', 'a: b # c', ({ tokens }) => tokens.audience, 'a: b # c'],
  ['tokens.audience', 'a=b=c', ({ tokens }) => tokens.audience, 'a=b=c'],
  ['tokens.issuer', 'https://me', ({ tokens }) => tokens.issuer, 'https://me'],
  ['tokens.issuer', 'null', ({ tokens }) => tokens.issuer, 'http://localhost:8080'],
  ['cookie.secure', 'true', ({ cookie }) => cookie.isSecure, true],
  ['trustedProxies', '[10.0.0.1, "::1"]', ({ trustedProxies }) => trustedProxies.length, 2],
  ['trustedProxies[0]', '10.0.0.1', ({ trustedProxies }) => trustedProxies[0]?.address, '10.0.0.1'],
  ['routes[0].methods', '[GET, PUT]', ({ routes }) => routes[0]?.methods, ['GET', 'PUT']],
  ['routes[0].host', 'a.example', ({ routes }) => routes[0]?.host, 'a.example'],
  [
    'upstreams.new',
    '{ targets: [{ url: "http://n" }] }',
    ({ upstreams }) => upstreams[1]?.targets[0]?.url.host,
    'n',
  ],
  [
    'upstreams.7.targets',
    '[{ url: "http://n" }]',
    ({ upstreams }) => upstreams.map(({ name }) => name).toSorted(),
    ['7', 'backend'],
  ],
  ['shutdown', '{ drain: 1s }', ({ shutdown }) => shutdown, { delayMs: 0, drainMs: 1_000 }],
  ['tokens', '{}', ({ tokens }) => tokens.audience, 'gatehouse'],
]

for (const [option, value, find, expected] of values) {
  t.test(`${option}=${value} is parsed by its option's type, from flag and environment`, async (t) => {
    const name = option.toUpperCase().replaceAll(/[.[]/g, '__').replaceAll(']', '')
    t.strictSame(find(load(t, minimalConfig, env(`GATEHOUSE__${name}`, value))), expected)
    t.strictSame(find(load(t, minimalConfig, { settings: [`${option}=${value}`] })), expected)
  })
}

t.test('a flag wins over the environment, the file and the default, in this order', async (t) => {
  const file = { ...minimalConfig, listen: { port: 2 } }
  const setting = { settings: ['listen.port=4'] }
  const variable = env('GATEHOUSE__LISTEN__PORT', '3')
  t.equal(load(t, minimalConfig).listen.port, 8080)
  t.equal(load(t, file).listen.port, 2)
  t.equal(load(t, file, variable).listen.port, 3)
  t.equal(load(t, file, { ...variable, ...setting }).listen.port, 4)
  t.equal(
    load(t, file, { settings: ['listen.port=4', 'listen.port=5'] }).listen.port,
    5,
    'the last flag wins',
  )
  t.equal(load(t, file, { ...variable, settings: ['listen={}'] }).listen.port, 8080, 'also with all it holds')
})

t.test('an override can correct a wrong value of the file', async (t) => {
  t.equal(
    load(t, { ...minimalConfig, listen: { port: 'x' } }, { settings: ['listen.port=1'] }).listen.port,
    1,
  )
  t.equal(load(t, { ...minimalConfig, listen: null }, { settings: ['listen.port=1'] }).listen.port, 1)
})
