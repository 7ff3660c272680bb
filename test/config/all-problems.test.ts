import t from 'tap'
import { minimalConfig, problemMessages } from './config-fixtures.ts'

const config = {
  trustedProxies: ['10.0.0.0/33', 'nonsense', 5],
  tracing: { otlp: { endpoint: 'x', sampleRatio: 2 } },
  upstreams: minimalConfig.upstreams,
  routes: [{ ...minimalConfig.routes[0], methods: ['get', 5] }],
  listen: { tls: { cert: 5, key: { env: 'KEY' } } },
  identity: { headers: { id: 5, role: 'Host', foo: 'x' }, assertion: { header: 'Authorization' } },
  tokens: {
    algorithm: 'ES257',
    keys: [
      { kid: 'a', use: 'sign', public: { env: 'A' } },
      { kid: 'a', use: 5 },
      { kid: 'b', use: 'verify' },
    ],
  },
  cookie: { name: '__Host-a', path: '/a', secure: false, sameSite: 5 },
  mail: { host: 'h', port: 0, from: 'x', password: { env: 'MAIL' }, tls: { ca: { env: 'CA' }, mode: 5 } },
  store: {
    driver: 'redis',
    sqlite: { path: 5 },
    redis: {
      url: 'redis://:pw@h',
      password: { env: 'PASSWORD' },
      cluster: { nodes: ['a', 5] },
      keyPrefix: 5,
    },
  },
  keys: { reveal: 5, sealingKey: { env: 'SEALING' } },
}

/** In each section the schema finds at least one problem, and the rules must find the others. */
const expected = [
  'trustedProxies[0]',
  'trustedProxies[1]',
  'trustedProxies[2]',
  'routes[0].methods[0]',
  'routes[0].methods[1]',
  'listen.tls.cert',
  'listen.tls.key',
  'identity.headers.foo',
  'identity.headers.id',
  'identity.headers.role',
  'identity.assertion.header',
  'tokens.algorithm',
  'tokens.keys[0].private',
  'tokens.keys[1].kid',
  'tokens.keys[1].use',
  'tokens.keys[2].public',
  'cookie.name',
  'cookie.path',
  'cookie.sameSite',
  'mail',
  'mail.from',
  'mail.password',
  'mail.port',
  'mail.tls.ca',
  'mail.tls.mode',
  'store.redis',
  'store.redis.url',
  'store.redis.password',
  'store.redis.cluster.nodes[0]',
  'store.redis.cluster.nodes[1]',
  'store.redis.keyPrefix',
  'store.sqlite',
  'store.sqlite.path',
  'keys.reveal',
  'keys.sealingKey',
  'tracing.otlp.endpoint',
  'tracing.otlp.sampleRatio',
]

t.test('a schema problem in a section hides none of its other problems', async (t) => {
  const paths = problemMessages(t, config).map((complaint) => complaint.slice(0, complaint.indexOf(': ')))
  t.strictSame([...new Set(paths)].toSorted(), expected.toSorted())
})

t.test('any value in place of an option is reported, and crashes no rule', async (t) => {
  const change = (place: unknown, wrong: unknown): unknown[] => {
    if (typeof place !== 'object' || place === null) return []
    return Object.entries(place).flatMap(([name, value]) =>
      [wrong, ...change(value, wrong)].map((changed) =>
        Array.isArray(place) ? place.with(Number(name), changed) : { ...place, [name]: changed },
      ),
    )
  }
  for (const wrong of [null, 5, 'x', [], {}, [null], { x: null }]) {
    for (const changed of change(config, wrong)) {
      t.not(problemMessages(t, changed as typeof config).length, 0)
    }
  }
})
