import { rootCertificates } from 'node:tls'
import t, { type Test } from 'tap'
import { minimalConfig, type Options, problemMessages, type ReadOptions, read } from '../config-fixtures.ts'

const redis = (options: Options | undefined) => ({
  ...minimalConfig,
  store: { driver: 'redis', ...(options && { redis: options }) },
})
const key = { files: { 'data/sealing.key': Buffer.alloc(32, 1).toString('base64') } }
/** With the sealing key that Redis needs. */
const problemsOf = (t: Test, config: Options, options: ReadOptions = {}) =>
  problemMessages(t, config, { ...key, ...options })
const asUrl = 'must be a URL such as redis://127.0.0.1:6379/0'

t.test('driver: redis needs exactly one of url, sentinel and cluster', async (t) => {
  const one = 'store.redis: set exactly one of url, sentinel and cluster'
  const cluster = { nodes: ['10.0.0.31:6379'] }
  const sentinel = { name: 'main', nodes: ['10.0.0.21:26379'] }
  t.strictSame(problemsOf(t, redis(undefined)), ['store.redis: is missing: driver: redis needs it'])
  t.strictSame(problemsOf(t, redis({})), [one])
  t.strictSame(problemsOf(t, redis({ url: 'redis://a', cluster })), [one])
  for (const place of [{ url: 'redis://a' }, { sentinel }, { cluster }]) {
    t.strictSame(problemsOf(t, redis(place)), [])
  }
})

t.test('a Redis URL has no path but a database number', async (t) => {
  for (const url of [
    'redis://a',
    'rediss://a:6380',
    'redis://user@10.0.0.1:6379/15',
    'redis://[::1]:6379/',
  ]) {
    t.strictSame(problemsOf(t, redis({ url })), [], url)
  }
  for (const url of ['a:6379', 'http://a', 'redis://', 'redis:///0', '127.0.0.1', 'unix:///run/redis.sock']) {
    t.strictSame(problemsOf(t, redis({ url })), [`store.redis.url: ${asUrl}`], url)
  }
  for (const url of ['redis://a/main', 'redis://a/0/1', 'redis://a/-1', 'redis://a/99999']) {
    t.strictSame(
      problemsOf(t, redis({ url })),
      ['store.redis.url: its path must be the number of a database'],
      url,
    )
  }
})

t.test('a password inside a Redis URL is refused, and never repeated', async (t) => {
  const message =
    'store.redis.url: a password is never inline: set the URL as { env: … } or { file: … }, or use password'
  for (const url of ['redis://:hunter2@a', 'redis://user:hunter2@a/0']) {
    t.strictSame(problemsOf(t, redis({ url })), [message], url)
  }
})

t.test('a Redis URL with a query is refused: it could set options past the config', async (t) => {
  for (const url of ['redis://a/0?password=hunter2', 'redis://a?family=6']) {
    const [complaint, ...others] = problemsOf(t, redis({ url }))
    t.match(complaint, /^store\.redis\.url: /, url)
    t.notMatch(complaint, /hunter2/)
    t.strictSame(others, [])
  }
})

t.test('a Redis URL given as a secret is checked as well', async (t) => {
  const options = redis({ url: { env: 'REDIS_URL' } })
  t.strictSame(problemsOf(t, options, { env: { REDIS_URL: 'redis://user:hunter2@a/0' } }), [])
  t.strictSame(problemsOf(t, options, { env: { REDIS_URL: 'hunter2@a' } }), [`store.redis.url: ${asUrl}`])
  t.strictSame(problemsOf(t, options), ['store.redis.url: the environment variable REDIS_URL is not set'])
  t.match(problemsOf(t, redis({ url: { fiel: 'a' } })), [/^store\.redis\.url: must be text or { file: … }/])
})

t.test('nodes of Sentinel and Cluster are written host:port', async (t) => {
  const good = ['10.0.0.1:6379', 'redis-1.internal:1', '[fd00::1]:65535']
  const bad = [
    '10.0.0.1',
    'redis:',
    ':6379',
    'redis:0',
    'redis:65536',
    'redis:a',
    'redis://a:1',
    'fd00::1:6379',
  ]
  for (const [place, option] of [
    [{ cluster: { nodes: [...good, ...bad] } }, 'cluster'],
    [{ sentinel: { name: 'main', nodes: [...good, ...bad] } }, 'sentinel'],
  ] as const) {
    t.strictSame(
      problemsOf(t, redis(place)),
      bad.map((_, index) => `store.redis.${option}.nodes[${good.length + index}]: must be host:port`),
    )
  }
  t.strictSame(problemsOf(t, redis({ cluster: { nodes: [] } })), [
    'store.redis.cluster.nodes: must not be empty',
  ])
})

t.test('every secret of Redis is read', async (t) => {
  const from = (env: string) => ({ env })
  const sentinel = { name: 'main', nodes: ['a:1'], password: from('S') }
  const options = redis({ sentinel, password: from('P'), tls: { ca: from('C') } })
  t.strictSame(problemsOf(t, options, { env: { C: 'no certificate' } }).toSorted(), [
    'store.redis.password: the environment variable P is not set',
    'store.redis.sentinel.password: the environment variable S is not set',
    'store.redis.tls.ca: contains no PEM certificate',
  ])
  t.strictSame(problemsOf(t, options, { env: { P: 'p', S: 's', C: rootCertificates[0] ?? '' } }), [])
})

t.test('a Redis key prefix has neither braces nor spaces', async (t) => {
  for (const keyPrefix of ['{gh}:', 'gh}', 'g h', 'a'.repeat(65)]) {
    t.match(problemsOf(t, redis({ url: 'redis://a', keyPrefix })), [
      /^store\.redis\.keyPrefix: has an invalid format/,
    ])
  }
  for (const keyPrefix of ['', 'gh:', 'a'.repeat(64)]) {
    t.strictSame(problemsOf(t, redis({ url: 'redis://a', keyPrefix })), [], keyPrefix)
  }
})

t.test('a driver that is not named is that of the section that is there', async (t) => {
  const url = 'redis://a'
  for (const [store = {}, options, driver] of [
    [undefined, {}, 'sqlite'],
    [{}, {}, 'sqlite'],
    [{ sqlite: {} }, {}, 'sqlite'],
    [{ sqlite: { path: 'x.db' } }, {}, 'sqlite'],
    [{ redis: { url } }, {}, 'redis'],
    [undefined, { env: { GATEHOUSE__STORE__REDIS__URL: url } }, 'redis'],
    [{}, { settings: [`store.redis={url: ${url}}`] }, 'redis'],
  ] as const) {
    const { config, problems, tree, sourceOf } = read(t, { ...minimalConfig, store }, { ...key, ...options })
    t.strictSame(problems, [])
    t.equal(config?.store.driver, driver)
    t.equal(tree.store.driver, driver)
    t.equal(sourceOf(['store', 'driver']).kind, 'default')
  }
})

t.test('a section of the driver that is not used is an error', async (t) => {
  const url = 'redis://a'
  const both = ['store.sqlite: is set together with store.redis: remove one of them']
  for (const [store, env, expected] of [
    [{ redis: { url }, sqlite: {} }, {}, both],
    [{ redis: { url }, sqlite: { path: 'x.db' } }, {}, both],
    [{ sqlite: {} }, { GATEHOUSE__STORE__REDIS__URL: url }, both],
    [{ redis: { url } }, { GATEHOUSE__STORE__SQLITE__PATH: 'x.db' }, both],
    [
      { driver: 'redis', redis: { url }, sqlite: {} },
      {},
      ['store.sqlite: is not used with driver: redis: remove it'],
    ],
    [{ driver: 'sqlite', redis: { url } }, {}, ['store.redis: is not used with driver: sqlite: remove it']],
    [
      { sqlite: {} },
      { GATEHOUSE__STORE__DRIVER: 'redis' },
      [
        'store.redis: is missing: driver: redis needs it',
        'store.sqlite: is not used with driver: redis: remove it',
      ],
    ],
  ] as const)
    t.strictSame(
      problemsOf(t, { ...minimalConfig, store }, { env }).toSorted(),
      [...expected].toSorted(),
      JSON.stringify([store, env]),
    )
})
