import type { Access, RateLimit, RouteRate, SchemeName } from '#identity/access.ts'
import type { QuotaUnit } from '#identity/limits/plans.ts'
import { memoizeByContent } from '#platform/memoize.ts'
import { isWildcard } from './hosts.ts'
import { metadataUrl } from './protected-resources.ts'
import { parseRequestTarget } from './request-target.ts'
import { type AcceptedCredentials, compileCaching, type KeyCarriers } from './response-fields.ts'
import type { BrowserAccess, Route } from './route.ts'

export type AuthOption = 'secretKey' | 'bearer' | 'any' | 'optional' | 'none' | 'deny'

/** A route as configured. */
export interface RouteOptions
  extends Pick<
    Route<unknown>,
    'name' | 'responseHeaders' | 'websocket' | 'destination' | 'costHeader' | 'costField' | 'bodyBytesMax'
  > {
  readonly host: string | undefined
  readonly path: string
  readonly methods: readonly string[] | undefined
  /** undefined = only the listener for other proxies uses it, or nobody may. */
  readonly upstream: string | undefined
  readonly auth: AuthOption
  readonly roles: readonly string[] | undefined
  readonly scopes: readonly string[] | undefined
  readonly verifiedOnly: boolean
  /** Names of foreign issuers. */
  readonly issuers: readonly string[]
  /** Who the Authorization field belongs to. */
  readonly authorization: 'gateway' | 'backend'
  /** What stands in place of the path for the backend, without a trailing slash; undefined = the path itself. */
  readonly rewrite: string | undefined
  readonly encodedSlash: 'auto' | 'reject' | 'pass'
  readonly emptySegments: 'reject' | 'pass'
  readonly caseSensitive: boolean
  readonly methodOverride: 'drop' | 'pass'
  readonly trailers: 'drop' | 'pass'
  readonly forwardCredentials: boolean
  readonly browser: BrowserOptions
  readonly rateLimit: RateLimit | undefined
  readonly includeUsage: boolean
  readonly quotaCounts: QuotaUnit
  /** undefined = that of the upstream. */
  readonly responseTimeoutMs: number | undefined
  /** undefined = that of the upstream. */
  readonly idleTimeoutMs: number | undefined
}

const usualCarriers: KeyCarriers = { headers: ['SecretKey'], bearer: false, basic: false }

/** What a route offers to browsers, which can set no header for a WebSocket, an image or a page visit. */
interface BrowserOptions {
  /** Whether the access cookie authenticates too. */
  readonly cookie: boolean
  /** Whether a page visit without a credential is sent to the portal's sign-in, and back. */
  readonly signIn: boolean
}

interface WithTimeouts {
  readonly responseTimeoutMs: number
  readonly idleTimeoutMs: number
}

/**
 * Compiles the routes of the config for the hot path.
 * @param upstreams the opened upstreams, by name; the config was validated, so each route finds its own
 * @param carriers where secret keys may come; default: only in `SecretKey`
 * @param publicOrigin what clients see of the gateway; undefined = they are not told about issuers
 */
export function compileRoutes<Upstream extends WithTimeouts>(
  configs: readonly RouteOptions[],
  upstreams: ReadonlyMap<string, Upstream>,
  carriers: KeyCarriers = usualCarriers,
  publicOrigin?: string,
): readonly Route<Upstream | undefined>[] {
  // Routes with equal rules share one object, and so everything that is cached for a caller or a head.
  const accessOf = memoizeByContent(compileAccess)
  const cachingOf = memoizeByContent((accepted: AcceptedCredentials, takesCookie: boolean) =>
    compileCaching(accepted, carriers, takesCookie),
  )
  return configs.map((config, index) => {
    const isDenied = config.auth === 'deny'
    const upstream = isDenied || config.upstream === undefined ? undefined : upstreams.get(config.upstream)
    const target = parseRequestTarget(config.path)
    if ((config.upstream !== undefined && !upstream && !isDenied) || !target)
      throw new Error(`route ${config.name} is valid but cannot be compiled`)
    const prefix = target.path.replace(/\/$/, '')
    const access = accessOf(accessOptionsOf(config), metadataOf(config, publicOrigin))
    const rate = compileRate(config.name, config.rateLimit)
    // Hot: first the properties that each request reads.
    const route: CompiledRoute<Upstream> = {
      name: config.name,
      index,
      access,
      browser: compileBrowser(config),
      rateLimit: undefined,
      limit: rate?.limit ?? 0,
      perMs: rate?.perMs ?? 0,
      by: rate?.by ?? 'ip',
      purpose: rate?.purpose ?? noPurposes.ip,
      recentPlace: -1,
      purposes: rate?.purposes ?? noPurposes,
      upstream,
      rewrite: config.rewrite === prefix ? undefined : config.rewrite,
      isDenied,
      responseHeaders: config.responseHeaders,
      websocket: config.websocket,
      passesTrailers: config.trailers === 'pass',
      passesMethodOverride: config.methodOverride === 'pass',
      forwardsCredentials: config.forwardCredentials,
      costHeader: config.costHeader,
      costField: config.costField,
      includesUsage: config.includeUsage,
      spendsUnits: config.quotaCounts === 'units',
      saysCost: saysCost(config),
      caching:
        access.kind === 'public'
          ? undefined
          : cachingOf(
              {
                schemes: access.schemes,
                isOptional: access.isOptional,
                leavesAuthorization: access.leavesAuthorization,
              },
              config.browser.cookie,
            ),
      bodyBytesMax: config.bodyBytesMax,
      responseTimeoutMs: config.responseTimeoutMs ?? upstream?.responseTimeoutMs ?? Number.POSITIVE_INFINITY,
      idleTimeoutMs: config.idleTimeoutMs ?? upstream?.idleTimeoutMs ?? Number.POSITIVE_INFINITY,
      host: config.host?.toLowerCase(),
      prefix,
      depth: prefix.split('/').length - 1,
      methods: compileMethods(config.methods),
      passesEncodedSlash: config.encodedSlash !== 'reject',
      passesEmptySegments: config.emptySegments === 'pass',
      isCaseSensitive: config.caseSensitive,
      destination: config.destination,
    }
    if (rate) route.rateLimit = route
    return route
  })
}

/** Hot: a route is its own rate limit, rather than holding another object. */
interface CompiledRoute<Upstream> extends Route<Upstream | undefined>, RouteRate {
  /** Itself, if it has one. */
  rateLimit: RouteRate | undefined
}

const noPurposes = { account: 'route  account', key: 'route  key', ip: 'route  ip' } as const

const bys = { account: 'account', key: 'key', ip: 'ip' } as const

export function compileRate(routeName: string, rateLimit: RateLimit | undefined): RouteRate | undefined {
  if (!rateLimit) return undefined
  const purposeOf = (by: RateLimit['by']) => `route ${routeName} ${by}` as const
  const purposes = { account: purposeOf('account'), key: purposeOf('key'), ip: purposeOf('ip') }
  const { limit, perMs } = rateLimit
  // One shared string for all routes, whose configs each have a copy.
  const by = bys[rateLimit.by]
  return { limit, perMs, by, purpose: purposes[by], recentPlace: -1, purposes }
}

function saysCost({ costHeader, costField }: Pick<RouteOptions, 'costHeader' | 'costField'>): boolean {
  return costHeader !== undefined || costField !== undefined
}

function compileBrowser({ browser, methodOverride }: RouteOptions): BrowserAccess | undefined {
  if (!browser.cookie) return undefined
  return { signIn: browser.signIn, passesMethodOverride: methodOverride === 'pass' }
}

function compileMethods(methods: readonly string[] | undefined): ReadonlySet<string> | undefined {
  return methods && new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods)
}

/** The options of a route that say who may call it. */
type AccessOptions = Pick<RouteOptions, 'auth' | 'roles' | 'scopes' | 'verifiedOnly'> &
  Partial<Pick<RouteOptions, 'issuers' | 'authorization'>>

function accessOptionsOf(config: RouteOptions): AccessOptions {
  const { auth, roles, scopes, verifiedOnly, issuers, authorization } = config
  return { auth, roles, scopes, verifiedOnly, issuers, authorization }
}

/**
 * Where clients learn about a route's issuers; undefined = they are not told, or the route accepts none. With a
 * wildcard the URL depends on the host of the request: clients look at the well-known path themselves.
 */
function metadataOf(config: RouteOptions, publicOrigin: string | undefined): string | undefined {
  return publicOrigin && config.issuers.length > 0 && !isWildcard(config.host)
    ? metadataUrl(config, publicOrigin)
    : undefined
}

/** @param metadata where clients learn about the issuers of the route */
export function compileAccess(
  { auth, roles, scopes, verifiedOnly, issuers = [], authorization }: AccessOptions,
  metadata?: string,
): Access {
  const leavesAuthorization = authorization === 'backend'
  if (auth === 'none') return { kind: 'public', leavesAuthorization }
  return {
    leavesAuthorization,
    kind: 'protected',
    schemes: schemesOf(auth),
    isOptional: auth === 'optional',
    roles: roles && new Set(roles),
    scopes,
    verifiedOnly,
    issuers: issuers.length === 0 ? undefined : new Set(issuers),
    metadataUrl: metadata,
  }
}

function schemesOf(auth: Exclude<AuthOption, 'none'>): readonly [SchemeName, ...SchemeName[]] {
  switch (auth) {
    case 'secretKey':
      return ['secretKey']
    case 'bearer':
      return ['bearer']
    case 'any':
    case 'optional':
    // Refused before its access counts.
    case 'deny':
      return ['secretKey', 'bearer']
    default:
      return auth satisfies never
  }
}
