import t from 'tap'
import { minimalConfig, type Options, problemMessages, withRoute, withUpstream } from './config-fixtures.ts'

t.test('an unknown option is reported with a suggestion, at every level', async (t) => {
  const slips: readonly (readonly [options: Options, complaint: string])[] = [
    [{ ...minimalConfig, lisen: {} }, 'lisen: unknown option, did you mean "listen"?'],
    [{ ...minimalConfig, listen: { prot: 1 } }, 'listen.prot: unknown option, did you mean "port"?'],
    [
      withUpstream({ conections: 1 }),
      'upstreams.backend.conections: unknown option, did you mean "connections"?',
    ],
    [
      withUpstream({ timeouts: { conect: '1s' } }),
      'upstreams.backend.timeouts.conect: unknown option, did you mean "connect"?',
    ],
    [
      withUpstream({ targets: [{ url: 'http://a', wieght: 1 }] }),
      'upstreams.backend.targets[0].wieght: unknown option, did you mean "weight"?',
    ],
    [
      withUpstream({ balancng: 'ipHash' }),
      'upstreams.backend.balancng: unknown option, did you mean "balancing"?',
    ],
    [
      withUpstream({ balancing: 'leastRequest' }),
      'upstreams.backend.balancing: must be one of roundRobin, leastRequests, ipHash, sticky, did you mean "leastRequests"?',
    ],
    [
      withUpstream({ health: { activ: { path: '/' } } }),
      'upstreams.backend.health.activ: unknown option, did you mean "active"?',
    ],
    [
      withUpstream({ health: { active: { path: '/', intervall: '1s' } } }),
      'upstreams.backend.health.active.intervall: unknown option, did you mean "interval"?',
    ],
    [
      withUpstream({ health: { passive: { maxFailure: 1 } } }),
      'upstreams.backend.health.passive.maxFailure: unknown option, did you mean "maxFailures"?',
    ],
    [withRoute({ role: ['Admin'] }), 'routes[0].role: unknown option, did you mean "roles"?'],
    [
      withRoute({ timeouts: { responce: '1s' } }),
      'routes[0].timeouts.responce: unknown option, did you mean "response"?',
    ],
    [
      { ...minimalConfig, identity: { headers: { mail: 'X-Mail' } } },
      'identity.headers.mail: unknown option, did you mean "email"?',
    ],
    [
      { ...minimalConfig, keys: { sealingKey: { flie: 'a' } } },
      'keys.sealingKey.flie: unknown option, did you mean "file"?',
    ],
    [
      { ...minimalConfig, tokens: { keys: [{ kid: 'k', use: 'sign', privat: { file: 'a' } }] } },
      'tokens.keys[0].privat: unknown option, did you mean "private"?',
    ],
    [
      { ...minimalConfig, store: { redis: { sentinel: { nam: 'a', name: 'a', nodes: ['a:1'] } } } },
      'store.redis.sentinel.nam: unknown option, did you mean "name"?',
    ],
    [
      withRoute({ rateLimit: { limit: 1, pre: '1s' } }),
      'routes[0].rateLimit.pre: unknown option, did you mean "per"?',
    ],
    [
      { ...minimalConfig, limits: { failures: { limits: 1 } } },
      'limits.failures.limits: unknown option, did you mean "limit"?',
    ],
    [
      { ...minimalConfig, cache: { maxstale: '1m' } },
      'cache.maxstale: unknown option, did you mean "maxStale"?',
    ],
    [
      { ...minimalConfig, store: { redis: { url: 'redis://a', replica: 1 } } },
      'store.redis.replica: unknown option, did you mean "replicas"?',
    ],
    [
      { ...minimalConfig, identity: { assertion: { lifetme: '60s' } } },
      'identity.assertion.lifetme: unknown option, did you mean "lifetime"?',
    ],
    [{ ...minimalConfig, tracing: { oltp: {} } }, 'tracing.oltp: unknown option, did you mean "otlp"?'],
    [{ ...minimalConfig, cors: { origin: [] } }, 'cors.origin: unknown option, did you mean "origins"?'],
    [{ ...minimalConfig, core: { origins: [] } }, 'core: unknown option, did you mean "cors"?'],
    [{ ...minimalConfig, nothingLikeIt: 1 }, 'nothingLikeIt: unknown option'],
  ]
  for (const [options, complaint] of slips) t.ok(problemMessages(t, options).includes(complaint), complaint)
})
