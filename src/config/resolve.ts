import { availableParallelism } from 'node:os'
import type { MailServer } from '../mail/mailer.ts'
import type { TlsVerification } from '../platform/certificate-authorities.ts'
import type { RouteOptions } from '../routes/compile.ts'
import type { RedisTopology } from '../store/redis/client.ts'
import type { ConfiguredKey } from '../tokens/configured-key.ts'
import { parseKeyMaterial } from '../tokens/key-material.ts'
import type { HealthOptions } from '../upstream/health.ts'
import type { UpstreamConfig } from '../upstream/upstream.ts'
import { parseAddressRange } from './address-range.ts'
import type { Config } from './config.ts'
import { parseOrigin } from './origin.ts'
import { parseRedisNode } from './redis-node.ts'
import type { SecretReference } from './schema/fields.ts'
import type { ConfigTree } from './schema/schema.ts'
import { parseDurationMs, parseSizeBytes } from './units.ts'

/** How a secret and a relative path are looked up. */
export interface SecretLookup {
  secret(reference: SecretReference): string
  resolvePath(path: string): string
}

/** The config as the program uses it, from a tree without problems. */
export function resolveConfig(tree: ConfigTree, lookup: SecretLookup): Config {
  const { listen, cache, shutdown, cookie, keys } = tree
  const publicOrigin = new URL(tree.publicUrl).origin
  return deepFreeze({
    publicOrigin,
    listen: {
      host: listen.host,
      port: listen.port,
      workers: listen.workers === 'auto' ? availableParallelism() : listen.workers,
      tls: listen.tls && { cert: lookup.secret(listen.tls.cert), key: lookup.secret(listen.tls.key) },
      requestTimeoutMs: ms(listen.requestTimeout),
      keepAliveTimeoutMs: ms(listen.keepAliveTimeout),
      headersBytesMax: bytes(tree.limits.headers),
      bodyRateMin: bytes(tree.limits.bodyRate),
    },
    ops: { ...tree.ops, hosts: tree.ops.hosts.map((name) => name.toLowerCase()) },
    portal: {
      enabled: tree.portal.enabled,
      path: tree.portal.path,
      sessionLifetimeMs: ms(tree.portal.sessionLifetime),
    },
    mail: tree.mail && resolveMail(tree.mail, lookup),
    trustedProxies: tree.trustedProxies.flatMap((range) => parseAddressRange(range) ?? []),
    upstreams: Object.entries(tree.upstreams).map(([name, upstream]) =>
      resolveUpstream(name, upstream, lookup),
    ),
    routes: tree.routes.map(resolveRoute),
    identityHeaders: tree.identity.headers,
    assertion: {
      enabled: tree.identity.assertion.enabled,
      header: tree.identity.assertion.header,
      lifetimeMs: ms(tree.identity.assertion.lifetime),
    },
    tokens: resolveTokens(tree, publicOrigin, lookup),
    cookie: {
      name: cookie.name,
      path: cookie.path,
      sameSite: cookie.sameSite,
      isSecure: cookie.secure === 'auto' ? publicOrigin.startsWith('https:') : cookie.secure,
    },
    cors: { origins: tree.cors.origins.flatMap((text) => parseOrigin(text) ?? []) },
    keys: {
      sealingKey:
        keys.sealingKey.file === undefined
          ? { kind: 'value', value: lookup.secret(keys.sealingKey) }
          : { kind: 'file', file: lookup.resolvePath(keys.sealingKey.file) },
      reveal: keys.reveal,
    },
    store: resolveStore(tree.store, lookup),
    cache: {
      entriesMax: cache.entries,
      ttlMs: ms(cache.ttl),
      negativeTtlMs: ms(cache.negativeTtl),
      maxStaleMs: ms(cache.maxStale),
    },
    failures: { limit: tree.limits.failures.limit, perMs: ms(tree.limits.failures.per) },
    sessionsMax: tree.limits.sessions,
    log: tree.log,
    tracing: tree.tracing && {
      url: `${tree.tracing.otlp.endpoint.replace(/\/+$/, '')}/v1/traces`,
      sampleRatio: tree.tracing.otlp.sampleRatio,
    },
    shutdown: { delayMs: ms(shutdown.delay), drainMs: ms(shutdown.drain) },
  })
}

function resolveUpstream(
  name: string,
  upstream: ConfigTree['upstreams'][string],
  lookup: SecretLookup,
): UpstreamConfig {
  return {
    name,
    targets: upstream.targets.map(({ url, weight }) => ({ url: new URL(url), weight })),
    balancing: upstream.balancing,
    health: resolveHealth(upstream.health),
    connectTimeoutMs: ms(upstream.timeouts.connect),
    responseTimeoutMs: ms(upstream.timeouts.response),
    idleTimeoutMs: ms(upstream.timeouts.idle),
    retryAttempts: upstream.retries.attempts,
    connectionsMax: upstream.connections,
    host: upstream.host,
    tls: resolveTls(upstream.tls, lookup),
  }
}

function resolveHealth({ active, passive }: ConfigTree['upstreams'][string]['health']): HealthOptions {
  return {
    active: active && {
      path: active.path,
      intervalMs: ms(active.interval),
      timeoutMs: ms(active.timeout),
      unhealthyAfter: active.unhealthyAfter,
      healthyAfter: active.healthyAfter,
    },
    passive: passive && {
      maxFailures: passive.maxFailures,
      windowMs: ms(passive.window),
      ejectForMs: ms(passive.ejectFor),
    },
  }
}

function resolveRoute(route: ConfigTree['routes'][number]): RouteOptions {
  const response = route.timeouts?.response
  return {
    name: route.name,
    host: route.host,
    path: route.path,
    methods: route.methods,
    upstream: route.upstream,
    auth: route.auth,
    roles: route.roles,
    verifiedOnly: route.verifiedOnly,
    stripPrefix: route.stripPrefix,
    websocket: route.websocket,
    encodedSlash: route.encodedSlash,
    caseSensitive: route.caseSensitive,
    methodOverride: route.methodOverride,
    trailers: route.trailers,
    forwardCredentials: route.forwardCredentials,
    rateLimit: route.rateLimit && {
      limit: route.rateLimit.limit,
      perMs: ms(route.rateLimit.per),
      by: route.rateLimit.by,
    },
    bodyBytesMax: route.maxBody === 'unlimited' ? Number.POSITIVE_INFINITY : bytes(route.maxBody),
    responseTimeoutMs: response === undefined ? undefined : ms(response),
  }
}

function resolveTokens({ tokens }: ConfigTree, publicOrigin: string, lookup: SecretLookup): Config['tokens'] {
  return {
    issuer: tokens.issuer ?? publicOrigin,
    audience: tokens.audience,
    algorithm: tokens.algorithm,
    accessLifetimeMs: ms(tokens.accessLifetime),
    refreshLifetimeMs: ms(tokens.refreshLifetime),
    refreshIdleMs: ms(tokens.refreshIdle),
    reuseGraceMs: ms(tokens.reuseGrace),
    clockToleranceMs: ms(tokens.clockTolerance),
    keys: tokens.keys.map((key) => resolveSigningKey(key, tokens.algorithm, lookup)),
  }
}

function resolveSigningKey(
  { kid, use, private: privateKey, public: publicKey }: ConfigTree['tokens']['keys'][number],
  algorithm: Config['tokens']['algorithm'],
  lookup: SecretLookup,
): ConfiguredKey {
  const reference = privateKey ?? publicKey
  if (!reference) throw new Error('a key without private or public part passed validation')
  const material = parseKeyMaterial(lookup.secret(reference), privateKey ? 'private' : 'public', algorithm)
  if ('unfit' in material) throw new Error('an invalid key passed validation')
  return { kid, use, material }
}

function resolveStore({ driver, sqlite, redis }: ConfigTree['store'], lookup: SecretLookup): Config['store'] {
  if (driver === 'sqlite' || !redis) return { driver: 'sqlite', path: lookup.resolvePath(sqlite.path) }
  return {
    driver,
    topology: resolveRedisTopology(redis, lookup),
    username: redis.username,
    password: redis.password && lookup.secret(redis.password),
    tls: redis.tls && resolveTls(redis.tls, lookup),
    keyPrefix: redis.keyPrefix,
    replicas: redis.replicas === 'auto' ? Number(redis.url === undefined) : redis.replicas,
  }
}

function resolveRedisTopology(
  redis: NonNullable<ConfigTree['store']['redis']>,
  lookup: SecretLookup,
): RedisTopology {
  if (redis.sentinel) {
    const { name, nodes, password } = redis.sentinel
    return {
      kind: 'sentinel',
      name,
      nodes: nodes.flatMap(redisNode),
      password: password && lookup.secret(password),
    }
  }
  if (redis.cluster) return { kind: 'cluster', nodes: redis.cluster.nodes.flatMap(redisNode) }
  const url = redis.url ?? ''
  return { kind: 'single', url: typeof url === 'string' ? url : lookup.secret(url) }
}

function resolveMail(mail: NonNullable<ConfigTree['mail']>, lookup: SecretLookup): MailServer {
  const { host, port, security, username, from } = mail
  return {
    host,
    port,
    security,
    username,
    from,
    password: mail.password && lookup.secret(mail.password),
    tls: resolveTls(mail.tls, lookup),
  }
}

function resolveTls(
  { verify, ca }: { readonly verify: boolean; readonly ca?: SecretReference },
  lookup: SecretLookup,
): TlsVerification {
  return { verify, ca: ca && lookup.secret(ca) }
}

function redisNode(text: string) {
  return parseRedisNode(text) ?? []
}

function ms(duration: string): number {
  return parseDurationMs(duration) ?? 0
}

function bytes(size: string): number {
  return parseSizeBytes(size) ?? 0
}

/** Freezes plain maps and lists; URLs and keys are left as they are. */
function deepFreeze<Value>(value: Value): Value {
  if (Array.isArray(value)) value.forEach(deepFreeze)
  else if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    Object.values(value).forEach(deepFreeze)
  } else return value
  return Object.freeze(value)
}
