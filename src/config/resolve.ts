import { availableParallelism } from 'node:os'
import type { Plans } from '#accounts/plan-reports.ts'
import type { RouteOptions } from '#gateway/routes/compile.ts'
import { parseKeyMaterial } from '#identity/tokens/key-material.ts'
import type { ConfiguredKey } from '#identity/tokens/keyring.ts'
import { parseAddressRange } from '#platform/addresses.ts'
import { parseOrigin } from './addresses.ts'
import type { Config } from './config.ts'
import { resolveIssuer } from './resolve-issuer.ts'
import { resolveOidc } from './resolve-oidc.ts'
import { resolveStore } from './resolve-store.ts'
import { resolveUpstream } from './resolve-upstream.ts'
import type { ConfigTree } from './schema/schema.ts'
import { resolveTls, type SecretLookup } from './secrets.ts'
import { durationMs, sizeBytes } from './units.ts'

/** The config as the program uses it, from a tree without problems. */
export function resolveConfig(tree: ConfigTree, lookup: SecretLookup): Config {
  const { listen, cache, shutdown, cookie, keys } = tree
  const publicOrigin = new URL(tree.publicUrl).origin
  const isSecure = cookie.secure === 'auto' ? publicOrigin.startsWith('https:') : cookie.secure
  return deepFreeze({
    publicOrigin,
    listen: {
      host: listen.host,
      port: listen.port,
      workers: listen.workers === 'auto' ? availableParallelism() : listen.workers,
      tls: listen.tls && { cert: lookup.secret(listen.tls.cert), key: lookup.secret(listen.tls.key) },
      requestTimeoutMs: durationMs(listen.requestTimeout),
      keepAliveTimeoutMs: durationMs(listen.keepAliveTimeout),
      headersBytesMax: sizeBytes(tree.limits.headers),
      bodyRateMin: sizeBytes(tree.limits.bodyRate),
      http2: listen.http2,
      streamsMax: tree.limits.streams,
    },
    ops: { ...tree.ops, hosts: tree.ops.hosts.map((name) => name.toLowerCase()) },
    decide: tree.decide,
    portal: {
      enabled: tree.portal.enabled,
      path: tree.portal.path,
      host: tree.portal.host?.toLowerCase(),
      origin: portalOriginOf(tree),
      sessionLifetimeMs: durationMs(tree.portal.sessionLifetime),
      // A provider asks for what it wants.
      requireSecondFactor: tree.portal.oidc?.passwords === false ? 'nobody' : tree.portal.requireSecondFactor,
      setupLinkLifetimeMs: durationMs(tree.portal.setupLinkLifetime),
      resetLinkLifetimeMs: durationMs(tree.portal.resetLinkLifetime),
      acceptsPasswords: tree.portal.enabled && tree.portal.oidc?.passwords !== false,
      oidc: tree.portal.oidc && resolveOidc(tree.portal.oidc, lookup),
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
      lifetimeMs: durationMs(tree.identity.assertion.lifetime),
    },
    issuers: tree.issuers.map((issuer) => resolveIssuer(issuer, lookup)),
    plans: resolvePlans(tree.plans),
    tokens: resolveTokens(tree, publicOrigin, lookup),
    cookie: {
      name: cookie.name,
      path: cookie.path,
      sameSite: cookie.sameSite,
      isSecure,
    },
    accessCookie: { ...tree.accessCookie, sameSite: cookie.sameSite, isSecure },
    cors: { origins: tree.cors.origins.flatMap((text) => parseOrigin(text) ?? []) },
    keys: {
      accept: keys.accept,
      prefix: keys.prefix,
      sealingKey:
        keys.sealingKey.file === undefined
          ? { kind: 'value', value: lookup.secret(keys.sealingKey) }
          : { kind: 'file', file: lookup.resolvePath(keys.sealingKey.file) },
      reveal: keys.reveal,
      maxPerAccount: keys.maxPerAccount,
    },
    store: resolveStore(tree.store, lookup),
    cache: {
      entriesMax: cache.entries,
      ttlMs: durationMs(cache.ttl),
      negativeTtlMs: durationMs(cache.negativeTtl),
      maxStaleMs: durationMs(cache.maxStale),
    },
    failures: { limit: tree.limits.failures.limit, perMs: durationMs(tree.limits.failures.per) },
    sessionsMax: tree.limits.sessions,
    log: tree.log,
    tracing: tree.tracing && {
      url: `${tree.tracing.otlp.endpoint.replace(/(?<!\/)\/+$/, '')}/v1/traces`,
      sampleRatio: tree.tracing.otlp.sampleRatio,
    },
    shutdown: { delayMs: durationMs(shutdown.delay), drainMs: durationMs(shutdown.drain) },
  })
}

/** The scheme and the port are those of publicUrl. */
function portalOriginOf({ publicUrl, portal }: ConfigTree): string {
  const url = new URL(publicUrl)
  if (portal.host !== undefined) url.hostname = portal.host
  return url.origin
}

function resolvePlans(plans: ConfigTree['plans']): Plans {
  return Object.fromEntries(
    Object.entries(plans).map(([name, { quota, rateLimit }]) => [
      name,
      { quota, rateLimit: rateLimit && { limit: rateLimit.limit, perMs: durationMs(rateLimit.per) } },
    ]),
  )
}

function resolveRoute(route: ConfigTree['routes'][number]): RouteOptions {
  const { response, idle } = route.timeouts ?? {}
  return {
    name: route.name,
    host: route.host,
    path: route.path,
    methods: route.methods,
    upstream: route.upstream,
    auth: route.auth,
    authorization: route.authorization,
    roles: route.roles,
    scopes: route.scopes,
    verifiedOnly: route.verifiedOnly,
    issuers: route.issuers,
    stripPrefix: route.stripPrefix,
    destination: route.destination,
    websocket: route.websocket,
    encodedSlash: route.encodedSlash,
    caseSensitive: route.caseSensitive,
    methodOverride: route.methodOverride,
    trailers: route.trailers,
    forwardCredentials: route.forwardCredentials,
    browser: route.browser,
    rateLimit: route.rateLimit && {
      limit: route.rateLimit.limit,
      perMs: durationMs(route.rateLimit.per),
      by: route.rateLimit.by,
    },
    costHeader: route.costHeader,
    bodyBytesMax: route.maxBody === 'unlimited' ? Number.POSITIVE_INFINITY : sizeBytes(route.maxBody),
    responseTimeoutMs: response === undefined ? undefined : durationMs(response),
    idleTimeoutMs: idle === undefined ? undefined : durationMs(idle),
  }
}

function resolveTokens({ tokens }: ConfigTree, publicOrigin: string, lookup: SecretLookup): Config['tokens'] {
  return {
    issuer: tokens.issuer ?? publicOrigin,
    audience: tokens.audience,
    algorithm: tokens.algorithm,
    accessLifetimeMs: durationMs(tokens.accessLifetime),
    refreshLifetimeMs: durationMs(tokens.refreshLifetime),
    refreshIdleMs: durationMs(tokens.refreshIdle),
    reuseGraceMs: durationMs(tokens.reuseGrace),
    clockToleranceMs: durationMs(tokens.clockTolerance),
    introspection: tokens.introspection,
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

function resolveMail(
  mail: NonNullable<ConfigTree['mail']>,
  lookup: SecretLookup,
): NonNullable<Config['mail']> {
  const { host, port, security, username, from, notices } = mail
  return {
    host,
    port,
    security,
    username,
    from,
    notices,
    password: mail.password && lookup.secret(mail.password),
    tls: resolveTls(mail.tls, lookup),
  }
}

/** Freezes plain maps and lists; URLs and keys are left as they are. */
function deepFreeze<Value>(value: Value): Value {
  if (Array.isArray(value)) value.forEach(deepFreeze)
  else if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    Object.values(value).forEach(deepFreeze)
  } else return value
  return Object.freeze(value)
}
