import type { onRequestHookHandler } from 'fastify'
import { resolveAppRoute, unusedRouteOptions } from '#config/load-app-config.ts'
import { principalOf, recordRouteName } from '#gateway/arrival/outcome.ts'
import { createGate } from '#gateway/gate/gate.ts'
import { compileAccess, compileRate } from '#gateway/routes/compile.ts'
import type { GatedRoute } from '#gateway/routes/route.ts'
import type { Principal } from '#identity/decision.ts'
import { memoize, memoizeByObject } from '#platform/memoize.ts'
import { type AppArrival, readAppArrival, whenDecided } from './app-arrival.ts'
import type { AppParts } from './open-app-parts.ts'

/** Who may call a route, and how often: the same options as in the section `routes` of the config file. */
export interface RequireOptions {
  /** The accepted schemes; `optional` also admits requests without a credential. Default: `any`. */
  readonly auth?: 'secretKey' | 'bearer' | 'any' | 'optional'
  /**
   * Who the Authorization field belongs to; default: `gateway`. `backend`: it is left to the app or its backend, and
   * the caller is identified by a key in a header of `keys.accept`; a credential of the gateway in it is refused.
   */
  readonly authorization?: 'gateway' | 'backend'
  /** Roles that may call, any of them; default: every role. */
  readonly roles?: readonly string[]
  /** Scopes that a limited key or token needs, all of them; default: limited ones are refused. */
  readonly scopes?: readonly string[]
  /** Whether only verified accounts may call; default: false. */
  readonly verifiedOnly?: boolean
  /** How often; counted across instances, separately for each path of the app. Default: no limit. */
  readonly rateLimit?: RateLimitOptions
}

export interface RateLimitOptions {
  /** From 1 to 1e9. */
  readonly limit: number
  /** A duration such as `1m`. */
  readonly per: string
  /** Default: `account`. */
  readonly by?: 'account' | 'key' | 'ip'
}

const isOption: Readonly<Record<keyof RequireOptions, true>> = {
  auth: true,
  authorization: true,
  roles: true,
  scopes: true,
  verifiedOnly: true,
  rateLimit: true,
}

/** What `auth` of a route in the config file may be, but not of a hook. */
const refusedAuth: ReadonlyMap<string, string> = new Map([
  ['none', 'must not be none: a route that is open to everybody has no hook'],
  ['deny', 'must not be deny: leave out a route that is closed to everybody'],
])

/** Creates the hook that decides about requests before their body is read. @throws ConfigError for invalid options */
export function createRequireHook(parts: AppParts, options: RequireOptions = {}): onRequestHookHandler {
  const { auth = 'any', ...others } = options
  const refused = refusedAuth.get(auth)
  const { route } = resolveAppRoute(
    {
      // The rules for a route that is open or closed would only be confusing.
      route: { name: 'app', path: '/', auth: refused === undefined ? auth : 'any', ...others },
      upstream: { targets: [{ url: 'http://localhost' }] },
      problems: [
        ...(refused === undefined ? [] : [{ path: ['auth'], message: refused }]),
        ...unusedRouteOptions({ ...others }, Object.keys(isOption)),
      ],
    },
    'gatehouse.require()',
  )
  const access = compileAccess(route)
  // Rates and usage are counted by the path pattern of the app's route.
  const routeOf = memoize(
    (name: string): GatedRoute => ({ name, access, rateLimit: compileRate(name, route.rateLimit) }),
  )
  const gate = createGate<GatedRoute, AppArrival>({
    ...parts.gate,
    findRoute: ({ exchange, outcome }) => exchange.malformed ?? routeOf(outcome.route),
  })

  return function requireCaller(request, reply, done) {
    const arrival = readAppArrival(request.raw, parts.reader)
    recordRouteName(arrival.outcome, request.routeOptions.url ?? 'app')
    whenDecided(
      { reply, arrival },
      () => gate(arrival),
      (admitted) => {
        const principal = principalOf(arrival.outcome)
        if (principal) {
          request.principal = callerOf(principal)
          const used = { name: admitted.name, saysCost: false }
          parts.usageMeter.onForwarded(used, principal, arrival.arrivedAt)
        }
        done()
      },
    )
  }
}

/** The caller: an account, identified by one of its credentials. Frozen. */
export interface Caller {
  readonly accountId: string
  readonly role: string
  /** How the caller was authenticated. */
  readonly scheme: 'secretKey' | 'bearer'
  /** Only with a bearer token. */
  readonly sessionId: string | undefined
  /**
   * The name of the secret key that was sent, or that the token was issued for; undefined also while the store is
   * unreachable.
   */
  readonly key: string | undefined
  /** What the key or token is limited to; empty = it is not limited. */
  readonly scopes: readonly string[]
  /** The plan of the account; undefined = none, or the store is unreachable. */
  readonly plan: string | undefined
  /** undefined while the store is unreachable, for a bearer token whose account is not cached. */
  readonly profile: CallerProfile | undefined
}

export interface CallerProfile {
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly isVerified: boolean
}

/** A copy of a principal for the app, as the principal itself is shared by all requests of its account. */
export const callerOf = memoizeByObject(
  ({ accountId, role, scheme, sessionId, key, scopes, plan, profile }: Principal): Caller =>
    Object.freeze({
      accountId,
      role,
      scheme,
      sessionId,
      key,
      scopes: Object.freeze([...scopes]),
      plan,
      profile: profile && Object.freeze({ ...profile, email: profile.email ?? '' }),
    }),
)
