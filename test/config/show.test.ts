import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readConfig, showConfig } from '#config/load.ts'
import { type Files, writeFiles } from './config-fixtures.ts'

interface Shown {
  readonly text: string
  readonly env?: Readonly<Record<string, string>>
  readonly settings?: readonly string[]
  readonly files?: Files
}

/** The shown options, by path: value and source, without the path of the file. */
function show(t: Test, { text, env = {}, settings = [], files = {} }: Shown) {
  const folder = writeFiles(t, { 'config/gateway.yaml': text, ...files })
  const reading = readConfig({ file: join(folder, 'config/gateway.yaml'), env, settings })
  t.strictSame(reading.problems, [])
  const options = showConfig(reading).map(
    ({ path, value, source }) => [path, [value, source.replace(`${reading.file}:`, '')]] as const,
  )
  return new Map<string, readonly [value: unknown, source: string]>(options)
}

const text = `listen:
  port: 1
  host: 0.0.0.0
upstreams:
  a: { targets: [{ url: 'http://a' }] }
routes:
  - { name: r, path: /, upstream: a, auth: any, methods: [GET, PUT] }
trustedProxies:
  - 10.0.0.1
`

t.test('every effective option is shown with its source', async (t) => {
  const env = { GATEHOUSE__LISTEN__PORT: '2', GATEHOUSE__LOG: '{ level: warn }' }
  const shown = show(t, { text, env, settings: ['listen.port=3', 'routes[0].roles=[Admin]'] })
  const expected: Readonly<Record<string, readonly [unknown, string]>> = {
    'listen.port': [3, '--set listen.port'],
    'listen.host': ['0.0.0.0', '3:9'],
    'listen.requestTimeout': ['30s', 'default'],
    'upstreams.a.targets[0].url': ['http://a', '5:25'],
    'upstreams.a.targets[0].weight': [1, 'default'],
    'upstreams.a.connections': [128, 'default'],
    'routes[0].methods': [['GET', 'PUT'], '7:58'],
    'routes[0].roles': [['Admin'], '--set routes[0].roles'],
    'routes[0].websocket': [false, 'default'],
    trustedProxies: [['10.0.0.1'], '9:3'],
    'log.level': ['warn', '$GATEHOUSE__LOG'],
    'tokens.keys': [[], 'default'],
    'tokens.issuer': [null, 'default'],
  }
  for (const [path, option] of Object.entries(expected)) t.strictSame(shown.get(path), option, path)
  t.notOk(shown.has('routes[0].host'), 'what is absent is not shown')
})

t.test('a map extended by an override shows a source for each entry', async (t) => {
  const shown = show(t, { text, settings: ['listen.keepAliveTimeout=1s'] })
  t.strictSame(shown.get('listen.keepAliveTimeout'), ['1s', '--set listen.keepAliveTimeout'])
  t.strictSame(shown.get('listen.port'), [1, '2:9'])
})

t.test('options left out of an overriding map are shown as defaults', async (t) => {
  const shown = show(t, { text, settings: ['listen={ port: 4 }'] })
  t.strictSame(shown.get('listen.port'), [4, '--set listen'])
  t.strictSame(shown.get('listen.host'), ['127.0.0.1', 'default'])
})

t.test('a list item from another source shows it', async (t) => {
  const shown = show(t, { text, settings: ['trustedProxies[0]=10.0.0.2'] })
  t.strictSame(shown.get('trustedProxies'), [['10.0.0.2'], '--set trustedProxies[0]'])
})

t.test("config show never shows a secret or its location, only the option's source", async (t) => {
  const sealingKey = Buffer.alloc(32, 0xfb).toString('base64')
  const files = { 'config/hunter2.key': sealingKey }
  const secrets = `${text}keys: { sealingKey: { file: hunter2.key } }
store:
  driver: redis
  redis: { url: { env: HUNTER2 }, password: { env: HUNTER2 } }
`
  const env = { HUNTER2: 'redis://user:hunter2@a' }
  const shown = show(t, { text: secrets, env, files })
  t.strictSame(shown.get('keys.sealingKey'), ['[secret]', '10:21'])
  t.strictSame(shown.get('store.redis.url'), ['[secret]', '13:17'])
  t.strictSame(shown.get('store.redis.password'), ['[secret]', '13:45'])
  t.notMatch(JSON.stringify([...shown.values()]), /hunter2|HUNTER2|redis:\/\//)
  t.notMatch(JSON.stringify([...shown.values()]), sealingKey.slice(0, 12))
})

t.test('a secret set by an override shows the override as its source', async (t) => {
  const env = { GATEHOUSE__KEYS__SEALING_KEY__ENV: 'KEY', KEY: Buffer.alloc(32, 1).toString('hex') }
  t.strictSame(show(t, { text, env }).get('keys.sealingKey'), [
    '[secret]',
    '$GATEHOUSE__KEYS__SEALING_KEY__ENV',
  ])
})

t.test('a URL without a secret is shown by config show', async (t) => {
  const shown = show(t, {
    text: `${text}store: { redis: { url: 'redis://a/1' } }\n`,
    env: { GATEHOUSE__KEYS__SEALING_KEY__ENV: 'KEY', KEY: 'a'.repeat(43) },
  })
  t.strictSame(shown.get('store.driver'), ['redis', 'default'])
  t.strictSame(shown.get('store.redis.url'), ['redis://a/1', '10:24'])
})

t.test('a credential that is written as the text of a header is not shown either', async (t) => {
  const header = (name: string, value: string) =>
    show(t, {
      text: text.replace(
        "[{ url: 'http://a' }]",
        `[{ url: 'http://a' }], headers: { set: { ${name}: '${value}' } }`,
      ),
    }).get(`upstreams.a.headers.set.${name}`)?.[0]
  for (const [name, value] of [
    ['Authorization', 'hunter2'],
    ['authorization', 'Basic aHVudGVyMg=='],
    ['Cookie', 'session=hunter2'],
    ['X-Api-Key', 'hunter2'],
    ['X_API_KEY', 'hunter2'],
    ['Ocp-Apim-Subscription-Key', 'hunter2'],
    ['X-Auth', 'hunter2'],
    ['X-Vault-Token', 'hunter2'],
    ['X-Password', 'hunter2'],
    ['X-Odd', 'Bearer hunter2'],
    ['X-Odd', 'token hunter2'],
    ['X-Odd', 'redis://user:hunter2@host'],
    ['X-Odd', `gate_sk_${'a'.repeat(60)}`],
  ] as const)
    t.equal(header(name, value), '[secret]', `${name}: ${value}`)
  for (const [name, value] of [
    ['X-Env', 'production'],
    ['X-Author', 'Ada'],
    ['X-Link', 'https://a.example/x'],
  ] as const)
    t.equal(header(name, value), value)
})
