import type { Plans } from '#accounts/usage/plan-reports.ts'
import { everyOrigin } from '#gateway/arrival/cors-headers.ts'
import { destinationOf, principalOf } from '#gateway/arrival/outcome.ts'
import type { Cors, Preflight } from '#gateway/gate/choose-scope.ts'
import { parseHostName } from '#gateway/routes/hosts.ts'
import type { RequestTarget } from '#gateway/routes/request-target.ts'
import type { Route } from '#gateway/routes/route.ts'
import { createRouteTable, type RouteTable } from '#gateway/routes/table.ts'
import type { RequestHead } from '#http/request-head.ts'
import type { UpstreamConfig } from '#http/upstream/upstream-config.ts'
import type { Access } from '#identity/access.ts'
import { countedBy, rateSubject } from '#identity/limits/limits.ts'
import type { CountedQuota, Principal } from '#identity/principal.ts'
import { clientNetwork } from '#platform/addresses.ts'
import type { Rate } from '#store/rates.ts'
import type { StepResult } from './explanation.ts'
import type { ExplainedArrival } from './read-arrival.ts'
import { redactTarget } from './redact.ts'

/** @param peer the other end of the connection */
export function describeRequest({ outcome, client, fields }: ExplainedArrival, peer: string): StepResult {
  if (!outcome.destination) {
    const host = parseHostName(fields)
    return { detail: `about the gateway as a whole, host ${host}`, facts: { host } }
  }
  const { target, hostName } = outcome.destination
  const path = redactTarget(target.path)
  const via = client.isTrusted ? `, according to the trusted proxy ${peer}` : ''
  return {
    detail: `path ${path}, host ${hostName}, from ${client.address}${via}`,
    facts: { path, host: hostName, client: client.address, isTrustedProxy: client.isTrusted },
  }
}

/** Which page may read the response; undefined where it is no page that asks, or CORS is left to the upstreams. */
export function describeCors(
  { head, outcome }: ExplainedArrival,
  cors: Cors | undefined,
): StepResult | undefined {
  if (!cors || !hasOrigin(head)) return undefined
  const origin = outcome.corsHeaders?.origin
  const isReadable =
    origin !== undefined &&
    cors.appliesTo(destinationOf(outcome).target.path, destinationOf(outcome).hostName)
  const detail = isReadable
    ? origin === everyOrigin
      ? 'pages of every origin may read the response, without cookies'
      : `pages from ${origin} may read the response`
    : origin === undefined
      ? 'its origin is not in cors.origins: browsers block the response (CORS)'
      : 'the portal allows no other origin: browsers block the response (CORS)'
  return { detail, facts: { origin: isReadable ? origin : null, isPreflight: false } }
}

export function describePreflight({ outcome }: ExplainedArrival, { methods }: Preflight): StepResult {
  const origin = outcome.corsHeaders?.origin
  const sender = origin === everyOrigin ? 'any origin' : origin
  const detail = `a preflight from ${sender}, answered before authentication; methods: ${methods.join(', ')}`
  return { detail, facts: { origin, methods, isPreflight: true } }
}

function hasOrigin({ rawHeaders }: RequestHead): boolean {
  return rawHeaders.some((name, index) => index % 2 === 0 && name.toLowerCase() === 'origin')
}

/** An OPTIONS request that goes no further. */
export function describeMethods(methods: readonly string[]): StepResult {
  return { detail: `answered by the gateway; methods: ${methods.join(', ')}`, facts: { methods } }
}

/** What a credential is limited to, besides what its principal says. */
export interface CredentialBounds {
  /** When it expires, or the overlap of its key ends; absent = never. */
  readonly validUntil?: number
  /** The thumbprint of the key whose proof came with it; absent = none is needed. */
  readonly jkt?: string | undefined
  /** The same of the certificate that its client has. */
  readonly certificate?: string | undefined
}

export function describePrincipal(
  principal: Principal | undefined,
  { validUntil, jkt, certificate }: CredentialBounds,
): StepResult {
  if (!principal)
    return { detail: 'anonymous: forwarded without identity headers', facts: { principal: null } }
  const { accountId, role, scheme, sessionId, key, scopes, addresses, plan, profile, issuer } = principal
  const session = sessionId === undefined ? '' : `, session ${sessionId}`
  const keyName = key === undefined ? '' : `, key ${key}`
  const limits = scopes.length === 0 ? '' : `, only scopes ${scopes.join(' ')}`
  const from = addresses.length === 0 ? '' : `, only from ${addresses.join(', ')}`
  const until = validUntil === undefined ? undefined : new Date(validUntil).toISOString()
  const expiry = until === undefined ? '' : `, valid until ${until}`
  const bound =
    (jkt === undefined ? '' : `, bound to the key ${jkt}, which is proven`) +
    (certificate === undefined ? '' : `, bound to the certificate ${certificate}, which the client has`)
  const verified = profile?.isVerified === false ? 'not verified' : 'verified'
  const email = profile ? ` (${profile.email ?? 'no e-mail'}, ${verified})` : ''
  const who = issuer === undefined ? 'account' : `by a token of the issuer ${issuer}:`
  return {
    detail: `${who} ${accountId}${email}, role ${role}${session}${keyName}${limits}${from}${expiry}${bound}`,
    facts: {
      principal: {
        accountId,
        role,
        scheme,
        sessionId,
        key,
        scopes,
        addresses,
        validUntil: until ?? null,
        ...(jkt !== undefined && { jkt }),
        ...(certificate !== undefined && { certificate }),
        plan,
        email: profile?.email,
        isVerified: profile?.isVerified,
        issuer: issuer ?? null,
      },
    },
  }
}

export function describePolicy(access: Access): StepResult {
  if (access.kind === 'public')
    return { detail: 'anyone may access', facts: { roles: null, scopes: null, verifiedOnly: false } }
  const roles = access.roles && [...access.roles]
  const { scopes = null } = access
  const who = roles ? `allowed roles: ${roles.join(', ')}` : 'any role'
  return {
    detail: `${who}; ${describeScopes(scopes)}${access.verifiedOnly ? '; verified accounts only' : ''}`,
    facts: { roles: roles ?? null, scopes, verifiedOnly: access.verifiedOnly },
  }
}

function describeScopes(scopes: readonly string[] | null): string {
  return scopes
    ? `scopes, where a key or token has any: ${scopes.join(' ')}`
    : 'only keys and tokens without scopes'
}

const uncounted = 'explain neither counts the request nor reads the counter'

/** What would be counted, and against which limit; the counter itself is not read. */
export function describeLimits(
  { rateLimit, bodyBytesMax }: Route<unknown>,
  { outcome, client: { address } }: ExplainedArrival,
  plans: Plans,
): StepResult {
  const principal = principalOf(outcome)
  const bodyMax = Number.isFinite(bodyBytesMax) ? bodyBytesMax : null
  const body = bodyMax === null ? 'a body of any length' : `a body of at most ${bodyMax} bytes`
  const key = describeKeyQuota(principal?.quota)
  const plan = describePlan(principal?.plan, plans)
  if (!rateLimit)
    return {
      detail: `no rate limit${key.detail}${plan.detail}; ${body}`,
      facts: { rate: null, ...key.facts, ...plan.facts, bodyMax },
    }
  const { limit, perMs, by } = rateLimit
  const kind = countedBy(by, principal)
  const counted = `${kind === 'ip' ? 'address' : kind} ${rateSubject(kind, { principal, address })}`
  return {
    detail: `${limit} requests in ${perMs / 1_000} s, counted for ${counted} (${uncounted})${key.detail}${plan.detail}; ${body}`,
    facts: { rate: { limit, perMs, by, counted }, ...key.facts, ...plan.facts, bodyMax },
  }
}

function describeKeyQuota(quota: CountedQuota | undefined): StepResult {
  if (quota === undefined) return { detail: '', facts: { keyQuota: null } }
  const { limit, per } = quota
  return {
    detail: `; quota of the key: ${limit} a ${per} (${uncounted}: see gatehouse usage)`,
    facts: { keyQuota: { limit, per } },
  }
}

function describePlan(name: string | undefined, plans: Plans): StepResult {
  if (name === undefined) return { detail: '', facts: { plan: null } }
  const plan = new Map(Object.entries(plans)).get(name)
  if (!plan) return { detail: `; plan ${name} is not in the config: not limited`, facts: { plan: { name } } }
  const { quota, rateLimit } = plan
  const limits = [
    ...(rateLimit ? [`${rateLimit.limit} requests in ${rateLimit.perMs / 1_000} s`] : []),
    ...(quota ? [`${quota.limit} a ${quota.per}`] : []),
  ]
  return {
    detail: `; plan ${name}: ${limits.join(', ')}, over all routes (${uncounted}: see gatehouse usage)`,
    facts: { plan: { name, quota: quota ?? null, rate: rateLimit ?? null } },
  }
}

export function describeWrongKey(address: string, { limit, perMs }: Rate): string {
  return `It would count as a failed attempt of ${clientNetwork(address)}; after ${limit} in ${perMs / 1_000} s the status is 429. explain counted nothing.`
}

/** The parts of a request that routes match on. */
interface RouteQuery {
  readonly host: string
  readonly target: RequestTarget
  readonly method: string
}

const namedMax = 3

/** Why a route matched, and which routes it takes precedence over. */
export function describeRouteMatch(
  route: Route<UpstreamConfig | undefined>,
  table: RouteTable<UpstreamConfig | undefined>,
  query: RouteQuery,
): string {
  const host = route.host === undefined ? 'any host' : `host ${route.host}`
  const methods = route.methods === undefined ? 'any method' : [...route.methods].join(' ')
  const others = runnersUp(route, table, query).map(({ name, prefix }) => `"${name}" (${prefix || '/'})`)
  const before = others.length === 0 ? '' : `; takes precedence over ${others.join(', ')}`
  return `"${route.name}": ${host}, prefix ${route.prefix || '/'}, ${methods}${before}`
}

/** The routes that would match the request without those that take precedence. */
function runnersUp(
  winner: Route<UpstreamConfig | undefined>,
  table: RouteTable<UpstreamConfig | undefined>,
  query: RouteQuery,
): readonly Route<UpstreamConfig | undefined>[] {
  const found = [winner]
  while (found.length <= namedMax) {
    const rest = createRouteTable(table.routes.filter((route) => !found.includes(route)))
    const next = rest.match(query.host, query.target, query.method)
    if (next.kind !== 'route') break
    found.push(next.route)
  }
  return found.slice(1)
}
