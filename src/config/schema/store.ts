import type { StoreOptions } from '#store/open.ts'
import type { RedisTopology } from '#store/redis/client.ts'
import { parseRedisNode } from '../hosts.ts'
import {
  choice,
  duration,
  either,
  exactly,
  integer,
  item,
  list,
  secret,
  section,
  text,
  tlsTrust,
} from './fields.ts'
import { convert, convertResolved, optional, type ResolvedOf, renamed } from './node.ts'

const nodes = (description: string) =>
  convert(list(text({ description: 'host:port' }), { minItems: 1, description }), (texts) =>
    texts.flatMap((one) => parseRedisNode(one) ?? []),
  )

const redis = item('Exactly one of url, sentinel and cluster.', {
  url: optional(
    convert(
      either(
        text({ description: 'redis:// or rediss:// URL without a password.' }),
        secret({ description: 'The whole URL.' }),
        { description: 'One server: redis://host:port/db, or rediss:// for TLS; no password in the text.' },
      ),
      (url, lookup) => (typeof url === 'string' ? url : lookup.secret(url)),
    ),
  ),
  sentinel: optional(
    item('A master found through Sentinel.', {
      name: text({ description: 'Name of the master.' }),
      nodes: nodes('The sentinels.'),
      password: optional(secret({ description: 'Password of the sentinels themselves.' })),
    }),
  ),
  cluster: optional(item('A Redis Cluster.', { nodes: nodes('Some of its nodes.') })),
  username: optional(text({ description: 'ACL user.' })),
  password: optional(secret({ description: 'Password of the ACL user, or of the default user.' })),
  tls: optional(
    item(
      'TLS to the servers of sentinel and cluster, or settings for the TLS of a rediss:// URL.',
      tlsTrust('the server'),
    ),
  ),
  replicas: either(
    exactly('auto'),
    integer({ minimum: 0, maximum: 10, description: 'A number of replicas.' }),
    {
      default: 'auto',
      description:
        'Replicas that must acknowledge a write (WAIT) before it is confirmed; auto = 1 with Sentinel or Cluster, 0 with one server.',
    },
  ),
  keyPrefix: text({
    pattern: '^[^{}\\s]{0,64}$',
    default: 'gh:',
    description: 'Prefix of every key and channel in Redis.',
  }),
})

const drivers = section('Where accounts, sessions and signing keys are kept.', {
  driver: choice(['sqlite', 'redis'], {
    default: 'sqlite',
    description: 'sqlite for one instance, redis for many; absent = the one whose section is there.',
  }),
  sqlite: section('A database file on this machine.', {
    path: convert(
      text({ default: '../data/gatehouse.db', description: 'Path of the database.' }),
      (path, lookup) => lookup.resolvePath(path),
    ),
  }),
  redis: optional(redis),
})

export const store = convertResolved(drivers, toStoreOptions)

function toStoreOptions({ driver, sqlite, redis }: ResolvedOf<typeof drivers>): StoreOptions {
  if (driver === 'sqlite' || !redis) return { driver: 'sqlite', path: sqlite.path }
  const { url, sentinel, cluster, replicas, ...options } = redis
  return {
    driver,
    topology: toTopology({ url, sentinel, cluster }),
    replicas: replicas === 'auto' ? Number(url === undefined) : replicas,
    ...options,
  }
}

/** A rule requires one of the three. */
function toTopology({
  url = '',
  sentinel,
  cluster,
}: Pick<ResolvedOf<typeof redis>, 'url' | 'sentinel' | 'cluster'>): RedisTopology {
  if (sentinel) return { kind: 'sentinel', ...sentinel }
  return cluster ? { kind: 'cluster', ...cluster } : { kind: 'single', url }
}

export const cache = section('In-memory cache of accounts and sessions.', {
  entries: renamed(
    'entriesMax',
    integer({
      minimum: 1,
      maximum: 10_000_000,
      default: 100_000,
      description: 'Maximum number of cached accounts, and of cached sessions.',
    }),
  ),
  ttl: duration({
    min: '0s',
    max: '24h',
    default: '60s',
    description: 'How long an entry is used before it is looked up again, in the background.',
  }),
  negativeTtl: duration({
    min: '0s',
    max: '1h',
    default: '5s',
    description: 'How long a missing account is cached.',
  }),
  maxStale: duration({
    min: '0s',
    max: '24h',
    default: '10m',
    description: 'How long known accounts are still served while the store is unavailable.',
  }),
})
