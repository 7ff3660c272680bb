import type { StoreOptions } from '#store/open.ts'
import type { NodeAddress, RedisTopology } from '#store/redis/client.ts'
import type { Path } from '../problem.ts'
import { reviewCertificates } from './certificates.ts'
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
import {
  convert,
  convertResolved,
  optional,
  type ResolvedOf,
  renamed,
  type SecretReference,
  type ValueOf,
} from './node.ts'
import type { Review } from './review.ts'

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

/** `host:port` or `[address]:port`; undefined if the text is neither. */
function parseRedisNode(text: string): NodeAddress | undefined {
  const [, address, name, digits] =
    /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/@[\]{}()$|<>^]+)):(\d{1,5})$/.exec(text) ?? []
  const host = address ?? name
  const port = Number(digits)
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : undefined
}

type StoreTree = { readonly store: ValueOf<typeof drivers> }

const path: Path = ['store', 'redis']

/** Checks that the chosen driver has all the options that it needs, and no others. */
export function reviewStore(review: Review<StoreTree>): void {
  reviewSections(review)
  if (!review.hasValidShape(path)) return
  const { driver, redis } = review.tree.store
  if (review.isValid(['store', 'driver']) && driver === 'redis' && !redis) {
    review.report(path, 'is missing: driver: redis needs it')
  }
  if (!redis) return
  const endpoints = [redis.url, redis.sentinel, redis.cluster].filter((place) => place !== undefined)
  if (endpoints.length !== 1) review.report(path, 'set exactly one of url, sentinel and cluster')
  reviewUrl(review, redis.url)
  reviewNodes(review, 'sentinel')
  reviewNodes(review, 'cluster')
  reviewPassword(review, [...path, 'password'], redis.password)
  reviewPassword(review, [...path, 'sentinel', 'password'], redis.sentinel?.password)
  reviewCertificates(review, [...path, 'tls', 'ca'], redis.tls?.ca)
}

/** Each driver has its own section: the other one would be ignored, whichever was meant. */
function reviewSections(review: Review<StoreTree>): void {
  if (!review.isValid(['store', 'driver'])) return
  const isThere = (name: string) => review.isWritten('store', name)
  const { driver } = review.tree.store
  const other = driver === 'redis' ? 'sqlite' : 'redis'
  if (!isThere(other)) return
  const message = isThere('driver')
    ? `is not used with driver: ${driver}: remove it`
    : 'is set together with store.redis: remove one of them'
  review.report(['store', other], message, 'key')
}

function reviewUrl(review: Review<StoreTree>, given: string | SecretReference | undefined): void {
  const at = [...path, 'url']
  if (given === undefined || !review.isValid(at)) return
  const text = typeof given === 'string' ? given : review.secret(at, given)
  if (text !== undefined) reviewText(review, at, text, typeof given === 'string')
}

function reviewPassword(review: Review<StoreTree>, at: Path, given: SecretReference | undefined): void {
  if (given && review.isValid(at)) review.secret(at, given)
}

function reviewText(review: Review<StoreTree>, path: Path, text: string, isInline: boolean): void {
  const url = URL.parse(text)
  if (
    !url ||
    !['redis:', 'rediss:'].includes(url.protocol) ||
    !/^(?:\[[\da-f:.]+\]|[\w.%-]+)$/i.test(url.hostname)
  ) {
    review.report(path, 'must be a URL such as redis://127.0.0.1:6379/0')
  } else if (isInline && url.password) {
    review.report(
      path,
      'a password is never inline: set the URL as { env: … } or { file: … }, or use password',
    )
  } else if (!/^\/?\d{0,4}$/.test(url.pathname)) {
    review.report(path, 'its path must be the number of a database')
  } else if (url.search || url.hash) {
    // The driver reads options from the query, even a password, which would bypass this config.
    review.report(path, 'must have no query and no fragment: set such options next to url')
  }
}

function reviewNodes(review: Review<StoreTree>, kind: 'sentinel' | 'cluster'): void {
  const at = [...path, kind, 'nodes']
  if (!review.hasValidShape(at)) return
  for (const [index, node] of (review.tree.store.redis?.[kind]?.nodes ?? []).entries()) {
    review.check([...at, index], () => (parseRedisNode(node) ? undefined : 'must be host:port'))
  }
}
