import type { Plans } from '#accounts/usage/plan-reports.ts'
import { destinationOf, principalOf } from '#gateway/arrival/outcome.ts'
import type { Route } from '#gateway/routes/route.ts'
import { createRouteTable, type RouteTable } from '#gateway/routes/table.ts'
import type { UpstreamConfig } from '#http/upstream/upstream-config.ts'
import type { CountedQuota } from '#identity/decision.ts'
import { countedBy, rateSubject } from '#identity/limits/take-rate.ts'
import type { StepResult } from './explanation.ts'
import type { ExplainedArrival } from './read-arrival.ts'

export type FoundRoute = Route<UpstreamConfig | undefined>

/** Why a route matched, and which routes it takes precedence over. */
export function describeRoute(
  route: FoundRoute,
  table: RouteTable<UpstreamConfig | undefined>,
  arrival: ExplainedArrival,
): StepResult {
  const path = route.prefix || '/'
  const host = route.host === undefined ? 'any host' : `host ${route.host}`
  const methods = route.methods && [...route.methods]
  const others = runnersUp(route, table, arrival).map(({ name, prefix }) => `"${name}" (${prefix || '/'})`)
  const before = others.length === 0 ? '' : `; takes precedence over ${others.join(', ')}`
  return {
    detail: `"${route.name}": ${host}, prefix ${path}, ${methods?.join(' ') ?? 'any method'}${before}`,
    facts: { name: route.name, host: route.host, path, methods },
  }
}

const namedMax = 3

/** The routes that would match the request without those that take precedence. */
function runnersUp(
  winner: FoundRoute,
  table: RouteTable<UpstreamConfig | undefined>,
  { head: { method }, outcome }: ExplainedArrival,
): readonly FoundRoute[] {
  const { hostName, target } = destinationOf(outcome)
  const found = [winner]
  while (found.length <= namedMax) {
    const rest = createRouteTable(table.routes.filter((route) => !found.includes(route)))
    const next = rest.match(hostName, target, method)
    if (next.kind !== 'route') break
    found.push(next.route)
  }
  return found.slice(1)
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
