import t from 'tap'
import { complaints, least, type Options, withRoute, withUpstream } from './files.ts'

t.test('a value of the wrong type is told what it must be', async (t) => {
  const duration = 'must be a duration such as 250ms, 30s, 10m, 24h or 30d, from'
  const wrong: readonly (readonly [options: Options, complaint: string])[] = [
    [{ ...least, publicUrl: 8080 }, 'publicUrl: must be text'],
    [{ ...least, publicUrl: '' }, 'publicUrl: must not be empty'],
    [{ ...least, listen: 8080 }, 'listen: must be a map'],
    [{ ...least, listen: [] }, 'listen: must be a map'],
    [{ ...least, listen: { port: '80' } }, 'listen.port: must be a whole number from 0 to 65535'],
    [{ ...least, listen: { port: 80.5 } }, 'listen.port: must be a whole number from 0 to 65535'],
    [
      { ...least, listen: { requestTimeout: 30 } },
      `listen.requestTimeout: ${duration} 1s to 10m: add the unit, such as 30s or 30ms`,
    ],
    [
      { ...least, listen: { requestTimeout: '30' } },
      `listen.requestTimeout: ${duration} 1s to 10m: add the unit, such as 30s or 30ms`,
    ],
    [
      { ...least, limits: { headers: 16_384 } },
      'limits.headers: must be a size such as 16KiB or 10MiB, from 1KiB to 1MiB: add the unit, such as 16384KiB or 16384MiB',
    ],
    [
      withRoute({ maxBody: 'unlimitd' }),
      'routes[0].maxBody: must be a size such as 16KiB or 10MiB, from 0B to 1024GiB, or "unlimited"',
    ],
    [{ ...least, log: { access: 'yes' } }, 'log.access: must be true or false'],
    [
      { ...least, log: { level: 'infos' } },
      'log.level: must be one of debug, info, warn, error, silent, did you mean "info"?',
    ],
    [{ ...least, log: { level: 3 } }, 'log.level: must be one of debug, info, warn, error, silent'],
    [{ ...least, version: 2 }, 'version: must be one of 1'],
    [{ ...least, cookie: { secure: 'yes' } }, 'cookie.secure: must be "auto" or true or false'],
    [{ ...least, tokens: { issuer: 7 } }, 'tokens.issuer: must be text or null'],
    [{ ...least, trustedProxies: '10.0.0.0/8' }, 'trustedProxies: must be a list'],
    [{ ...least, trustedProxies: [10] }, 'trustedProxies[0]: must be text'],
    [{ ...least, upstreams: [] }, 'upstreams: must be a map'],
    [
      { ...least, upstreams: { backend: 'http://a' } },
      'upstreams.backend: must be a map such as { targets: … }',
    ],
    [withUpstream({ targets: [] }), 'upstreams.backend.targets: must not be empty'],
    [withUpstream({ targets: 'http://a' }), 'upstreams.backend.targets: must be a list'],
    [
      withUpstream({ targets: ['http://a'] }),
      'upstreams.backend.targets[0]: must be a map such as { url: … }',
    ],
    [{ ...least, routes: {} }, 'routes: must be a list'],
    [
      { ...least, routes: ['/'] },
      'routes[0]: must be a map such as { name: …, path: …, upstream: …, auth: … }',
    ],
    [withRoute({ methods: [] }), 'routes[0].methods: must not be empty'],
    [withRoute({ methods: 'GET' }), 'routes[0].methods: must be a list'],
    [withRoute({ roles: ['Admin', 'Admin'] }), 'routes[0].roles: has the same value twice'],
    [withRoute({ host: '' }), 'routes[0].host: must not be empty'],
    [withRoute({ rateLimit: 600 }), 'routes[0].rateLimit: must be a map such as { limit: …, per: … }'],
    [withRoute({ rateLimit: { limit: 600 } }), 'routes[0].rateLimit.per: is missing'],
    [withRoute({ rateLimit: { per: '1m' } }), 'routes[0].rateLimit.limit: is missing'],
    [
      withRoute({ rateLimit: { limit: 1, per: '1s', by: 'IP' } }),
      'routes[0].rateLimit.by: must be one of account, ip, did you mean "ip"?',
    ],
    [{ ...least, limits: { failures: 10 } }, 'limits.failures: must be a map'],
    [
      { ...least, store: { redis: { url: 'redis://a', replicas: 'all' } } },
      'store.redis.replicas: must be "auto" or a whole number from 0 to 10',
    ],
  ]
  for (const [options, complaint] of wrong) {
    t.ok(
      complaints(t, options).includes(complaint),
      `${complaint}\nnot: ${complaints(t, options).join('\n')}`,
    )
  }
})

t.test('an option without a value says so', async (t) => {
  const empty = 'is empty: give it a value or leave it out'
  t.strictSame(complaints(t, { ...least, log: null }), [`log: ${empty}`])
  t.strictSame(complaints(t, { ...least, log: { level: null } }), [`log.level: ${empty}`])
  t.strictSame(complaints(t, { ...least, listen: { port: null } }), [`listen.port: ${empty}`])
  t.strictSame(complaints(t, { ...least, keys: { sealingKey: null } }), [`keys.sealingKey: ${empty}`])
})

t.test('an option that is needed but empty is not said to be dispensable', async (t) => {
  for (const name of ['upstreams', 'routes']) {
    const [complaint, ...others] = complaints(t, { ...least, [name]: null })
    t.match(complaint, new RegExp(`^${name}: is empty`))
    t.notMatch(complaint, /leave it out/)
    t.strictSame(others, [])
  }
})

t.test('names of upstreams, routes and keys are plain words of at most 64 characters', async (t) => {
  const rule = 'a name has letters, digits, - and _ only, 64 at most, and begins with a letter or digit'
  const { backend } = least.upstreams
  for (const name of ['a/b', 'a b', '-a', '_a', 'é', 'a.b', 'a~1b', 'a'.repeat(65)]) {
    t.strictSame(complaints(t, { upstreams: { [name]: backend }, routes: [] }), [
      `upstreams.${name}: ${rule}`,
    ])
    t.match(complaints(t, withRoute({ name })), [/^routes\[0\]\.name: has the wrong form/], name)
  }
  for (const name of ['a', '7', 'A-b_9', 'constructor', 'a'.repeat(64)]) {
    t.strictSame(complaints(t, { upstreams: { [name]: backend }, routes: [] }), [], name)
    t.strictSame(complaints(t, withRoute({ name })), [], name)
  }
})

t.test('a secret that is written inline is refused, and never repeated', async (t) => {
  const inline = 'is never written inline: write { file: PATH } or { env: NAME }'
  const secrets: readonly (readonly [options: Options, option: string])[] = [
    [{ ...least, keys: { sealingKey: 'hunter2' } }, 'keys.sealingKey'],
    [{ ...least, store: { redis: { url: 'redis://a', password: 'hunter2' } } }, 'store.redis.password'],
    [withUpstream({ tls: { ca: 'hunter2' } }), 'upstreams.backend.tls.ca'],
    [
      { ...least, tokens: { keys: [{ kid: 'k', use: 'sign', private: 'hunter2' }] } },
      'tokens.keys[0].private',
    ],
  ]
  for (const [options, option] of secrets) t.strictSame(complaints(t, options), [`${option}: ${inline}`])
})

t.test('a secret comes from exactly one place', async (t) => {
  const one = 'give exactly one of { file: … } and { env: … }'
  for (const sealingKey of [{}, { file: 'a', env: 'B' }]) {
    t.strictSame(complaints(t, { ...least, keys: { sealingKey } }), [`keys.sealingKey: ${one}`])
  }
})
