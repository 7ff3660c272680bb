import t from 'tap'
import { minimalConfig, type Options, problemMessages, withRoute, withUpstream } from './config-fixtures.ts'

t.test('a value of the wrong type is reported with the expected type', async (t) => {
  const duration = 'must be a duration such as 250ms, 30s, 10m, 24h or 30d, from'
  const wrong: readonly (readonly [options: Options, complaint: string])[] = [
    [{ ...minimalConfig, publicUrl: 8080 }, 'publicUrl: must be text'],
    [{ ...minimalConfig, publicUrl: '' }, 'publicUrl: must not be empty'],
    [{ ...minimalConfig, listen: 8080 }, 'listen: must be a map'],
    [{ ...minimalConfig, listen: [] }, 'listen: must be a map'],
    [{ ...minimalConfig, listen: { port: 'x' } }, 'listen.port: must be a whole number from 0 to 65535'],
    [{ ...minimalConfig, listen: { port: 80.5 } }, 'listen.port: must be a whole number from 0 to 65535'],
    [
      { ...minimalConfig, listen: { requestTimeout: 30 } },
      `listen.requestTimeout: ${duration} 1s to 10m: add the unit, such as 30s`,
    ],
    [
      { ...minimalConfig, listen: { requestTimeout: '30' } },
      `listen.requestTimeout: ${duration} 1s to 10m: add the unit, such as 30s`,
    ],
    [
      { ...minimalConfig, limits: { headers: 16_384 } },
      'limits.headers: must be a size such as 16KiB or 10MiB, from 1KiB to 1MiB: add the unit, such as 16384B',
    ],
    [
      withRoute({ maxBody: 'unlimitd' }),
      'routes[0].maxBody: must be a size such as 16KiB or 10MiB, from 0B to 1024GiB, or "unlimited"',
    ],
    [{ ...minimalConfig, log: { access: 'yes' } }, 'log.access: must be true or false'],
    [
      { ...minimalConfig, log: { level: 'infos' } },
      'log.level: must be one of debug, info, warn, error, silent, did you mean "info"?',
    ],
    [{ ...minimalConfig, log: { level: 3 } }, 'log.level: must be one of debug, info, warn, error, silent'],
    [{ ...minimalConfig, version: 2 }, 'version: must be 1'],
    [{ ...minimalConfig, version: 'x' }, 'version: must be 1'],
    [{ ...minimalConfig, version: '1' }, 'version: must be 1, without quotes'],
    [
      { ...minimalConfig, listen: { port: '80' } },
      'listen.port: must be a whole number from 0 to 65535, without quotes',
    ],
    [
      { ...minimalConfig, listen: { workers: '2' } },
      'listen.workers: must be "auto" or a whole number from 1 to 256, without quotes',
    ],
    [{ ...minimalConfig, listen: { http2: 'true' } }, 'listen.http2: must be true or false, without quotes'],
    [{ ...minimalConfig, listen: { http2: 'yes' } }, 'listen.http2: must be true or false'],
    [{ ...minimalConfig, cookie: { secure: 'yes' } }, 'cookie.secure: must be "auto" or true or false'],
    [{ ...minimalConfig, tokens: { issuer: 7 } }, 'tokens.issuer: must be text or null'],
    [{ ...minimalConfig, trustedProxies: '10.0.0.0/8' }, 'trustedProxies: must be a list'],
    [{ ...minimalConfig, trustedProxies: [10] }, 'trustedProxies[0]: must be text'],
    [{ ...minimalConfig, upstreams: [] }, 'upstreams: must be a map'],
    [
      { ...minimalConfig, upstreams: { backend: 'http://a' } },
      'upstreams.backend: must be a map such as { targets: … }',
    ],
    [withUpstream({ targets: [] }), 'upstreams.backend.targets: must not be empty'],
    [withUpstream({ targets: 'http://a' }), 'upstreams.backend.targets: must be a list'],
    [
      withUpstream({ targets: ['http://a'] }),
      'upstreams.backend.targets[0]: must be a map such as { url: … }',
    ],
    [{ ...minimalConfig, routes: {} }, 'routes: must be a list'],
    [{ ...minimalConfig, routes: ['/'] }, 'routes[0]: must be a map such as { name: …, path: …, auth: … }'],
    [withRoute({ methods: [] }), 'routes[0].methods: must not be empty'],
    [withRoute({ methods: 'GET' }), 'routes[0].methods: must be a list'],
    [withRoute({ roles: ['Admin', 'Admin'] }), 'routes[0].roles: contains duplicates'],
    [withRoute({ host: '' }), 'routes[0].host: must not be empty'],
    [withRoute({ rateLimit: 600 }), 'routes[0].rateLimit: must be a map such as { limit: …, per: … }'],
    [withRoute({ rateLimit: { limit: 600 } }), 'routes[0].rateLimit.per: is missing'],
    [withRoute({ rateLimit: { per: '1m' } }), 'routes[0].rateLimit.limit: is missing'],
    [
      withRoute({ rateLimit: { limit: 1, per: '1s', by: 'IP' } }),
      'routes[0].rateLimit.by: must be one of account, key, ip, did you mean "ip"?',
    ],
    [{ ...minimalConfig, limits: { failures: 10 } }, 'limits.failures: must be a map'],
    [
      { ...minimalConfig, store: { redis: { url: 'redis://a', replicas: 'all' } } },
      'store.redis.replicas: must be "auto" or a whole number from 0 to 10',
    ],
  ]
  for (const [options, complaint] of wrong) {
    t.ok(
      problemMessages(t, options).includes(complaint),
      `${complaint}\nnot: ${problemMessages(t, options).join('\n')}`,
    )
  }
})

t.test('an option without a value is reported as such', async (t) => {
  const empty = 'is empty: set a value or remove it'
  t.strictSame(problemMessages(t, { ...minimalConfig, log: null }), [`log: ${empty}`])
  t.strictSame(problemMessages(t, { ...minimalConfig, log: { level: null } }), [`log.level: ${empty}`])
  t.strictSame(problemMessages(t, { ...minimalConfig, listen: { port: null } }), [`listen.port: ${empty}`])
  t.strictSame(problemMessages(t, { ...minimalConfig, keys: { sealingKey: null } }), [
    `keys.sealingKey: ${empty}`,
  ])
})

t.test('a required option left empty is reported as required', async (t) => {
  for (const name of ['upstreams', 'routes']) {
    const [complaint, ...others] = problemMessages(t, { ...minimalConfig, [name]: null })
    t.match(complaint, new RegExp(`^${name}: is empty`))
    t.notMatch(complaint, /leave it out/)
    t.strictSame(others, [])
  }
})

t.test('names of upstreams, routes and keys are plain words of at most 64 characters', async (t) => {
  const rule =
    'is not a name: it must consist of letters, digits, - and _, start with a letter or digit, and have 64 characters at most'
  const { backend } = minimalConfig.upstreams
  for (const name of ['a/b', 'a b', '-a', '_a', 'é', 'a.b', 'a~1b', 'a'.repeat(65)]) {
    t.strictSame(problemMessages(t, { upstreams: { [name]: backend }, routes: [] }), [
      `upstreams.${name}: ${rule}`,
    ])
    t.match(problemMessages(t, withRoute({ name })), [/^routes\[0\]\.name: has an invalid format/], name)
  }
  for (const name of ['a', '7', 'A-b_9', 'constructor', 'a'.repeat(64)]) {
    t.strictSame(problemMessages(t, { upstreams: { [name]: backend }, routes: [] }), [], name)
    t.strictSame(problemMessages(t, withRoute({ name })), [], name)
  }
})

t.test('the form of what people often write wrong is said in words', async (t) => {
  for (const [options, path, form] of [
    [withRoute({ name: 'my orders' }), 'routes[0].name', /^consist of letters, digits, - and _, start/],
    [withRoute({ scopes: ['a b'] }), 'routes[0].scopes[0]', /^have 1 to 64 visible ASCII characters/],
    [
      { ...minimalConfig, portal: { branding: { color: 'teal' } } },
      'portal.branding.color',
      /^be # and six .*"#0b6b5f"$/,
    ],
    [
      { ...minimalConfig, identity: { headers: { id: 'X User' } } },
      'identity.headers.id',
      /^consist of letters, digits and signs/,
    ],
  ] as const) {
    const [problem = '', ...others] = problemMessages(t, options)
    const [before, after] = problem.split(': has an invalid format: it must ')
    t.equal(before, path)
    t.match(after, form)
    t.strictSame(others, [])
  }
})

t.test('an inline secret is refused, and never repeated', async (t) => {
  const inline = 'is never written inline: write { file: PATH } or { env: NAME }'
  const secrets: readonly (readonly [options: Options, option: string])[] = [
    [{ ...minimalConfig, keys: { sealingKey: 'hunter2' } }, 'keys.sealingKey'],
    [
      { ...minimalConfig, store: { redis: { url: 'redis://a', password: 'hunter2' } } },
      'store.redis.password',
    ],
    [withUpstream({ tls: { ca: 'hunter2' } }), 'upstreams.backend.tls.ca'],
    [
      { ...minimalConfig, tokens: { keys: [{ kid: 'k', use: 'sign', private: 'hunter2' }] } },
      'tokens.keys[0].private',
    ],
  ]
  const files = { 'data/sealing.key': Buffer.alloc(32, 1).toString('base64') }
  for (const [options, option] of secrets)
    t.strictSame(problemMessages(t, options, { files }), [`${option}: ${inline}`])
})

t.test('a secret comes from exactly one place', async (t) => {
  const one = 'set exactly one of { file: … }, { env: … } and { credential: … }'
  for (const sealingKey of [{}, { file: 'a', env: 'B' }]) {
    t.strictSame(problemMessages(t, { ...minimalConfig, keys: { sealingKey } }), [`keys.sealingKey: ${one}`])
  }
})
