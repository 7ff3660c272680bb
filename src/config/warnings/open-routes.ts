import { compileRoutes } from '../../routes/compile.ts'
import type { Route } from '../../routes/route.ts'
import { createRouteTable, type RouteTable } from '../../routes/table.ts'
import { parseTarget, type Target } from '../../routes/target.ts'
import type { Config, UpstreamConfig } from '../config.ts'
import type { Warning } from './warning.ts'

type CompiledRoute = Route<UpstreamConfig>

/** What the rules look at: the routes as the gateway has them, and the table that it asks. */
interface Scene {
  readonly table: RouteTable<UpstreamConfig>
  readonly guarded: readonly CompiledRoute[]
  /** A host that no route names. */
  readonly otherHost: string
}

/** Why a route that takes no credential opens more than it seems to; undefined where it does not. */
type Rule = (route: CompiledRoute, scene: Scene) => string | undefined

const rules: readonly Rule[] = [opensAll, opensInside, opensOtherMethods, opensOtherHosts, opensByStripping]

/**
 * Routes that let requests without credentials pass where that is probably not meant. Found by asking the very
 * table that the gateway asks, so that what is warned of is so.
 */
export function findOpenRoutes({ routes, upstreams }: Pick<Config, 'routes' | 'upstreams'>): Warning[] {
  const compiled = compileRoutes(routes, new Map(upstreams.map((upstream) => [upstream.name, upstream])))
  const guarded = compiled.filter((route) => !isOpen(route))
  const scene = { table: createRouteTable(compiled), guarded, otherHost: 'any-other-host.invalid' }
  return compiled.flatMap((route, index) => {
    if (!isOpen(route)) return []
    const messages = rules.map((rule) => rule(route, scene)).filter((message) => message !== undefined)
    return messages.map((message) => ({ path: ['routes', index, 'auth'], message }))
  })
}

function isOpen({ access }: CompiledRoute): boolean {
  return access.kind === 'public' || access.isOptional
}

function opensAll(route: CompiledRoute): string | undefined {
  if (route.access.kind !== 'public' || route.prefix !== '') return undefined
  const where = route.host === undefined ? '/' : `${route.host}/`
  return `route "${route.name}" lets everybody reach everything under ${where} that no other route takes: give it auth: any, or a longer path`
}

/** Without it, the requests that it gets would need a credential. */
function opensInside(route: CompiledRoute, { table, guarded, otherHost }: Scene): string | undefined {
  const without = createRouteTable(table.routes.filter((other) => other !== route))
  const target = targetOf(route)
  const above = guarded.filter((other) => isWithin(route.prefix, other.prefix))
  const hosts = route.host === undefined ? [otherHost, ...hostsOf(above)] : [route.host]
  for (const host of hosts) {
    for (const method of methodsOf(route, above)) {
      const next = routeAt(without, { host, target, method })
      if (!next || isOpen(next) || routeAt(table, { host, target, method }) !== route) continue
      // Of one and the same place: whoever names a method there means it.
      if (next.prefix === route.prefix && next.host === route.host) continue
      const place =
        next.prefix === route.prefix
          ? `for host ${host}, where it comes before the protected route "${next.name}"`
          : `inside the protected route "${next.name}" (${next.prefix || '/'})`
      return `route "${route.name}" ${verbOf(route)} ${place}: if that is not meant, give it the auth of "${next.name}"`
    }
  }
  return undefined
}

/** Beside routes of its place that name their methods it takes all the others. */
function opensOtherMethods(route: CompiledRoute, { guarded }: Scene): string | undefined {
  if (route.methods !== undefined) return undefined
  const beside = guarded.filter(({ host, prefix }) => host === route.host && prefix === route.prefix)
  const methods = [...new Set(beside.flatMap((other) => [...(other.methods ?? [])]))]
  if (methods.length === 0) return undefined
  const names = beside.map(({ name }) => `"${name}"`).join(', ')
  return `route "${route.name}" ${verbOf(route)} for every method but ${methods.join(', ')}, beside the protected ${names}: name the methods that may be open`
}

/** A guarded route of one host: whoever sends another Host gets this one, and the same backend. */
function opensOtherHosts(route: CompiledRoute, { table, guarded, otherHost }: Scene): string | undefined {
  if (route.host !== undefined || strips(route)) return undefined
  const bypassed = guarded.find(
    (other) =>
      other.host !== undefined &&
      other.upstream === route.upstream &&
      !strips(other) &&
      methodsOf(other, []).some(
        (method) => routeAt(table, { host: otherHost, target: targetOf(other), method }) === route,
      ),
  )
  return (
    bypassed &&
    `route "${route.name}" ${verbOf(route)} at ${bypassed.prefix || '/'} of every host but ${bypassed.host}, where "${bypassed.name}" protects it: leave out the host of "${bypassed.name}", or give "${route.name}" one`
  )
}

/** With a prefix off, paths of the backend are reached that another route protects. */
function opensByStripping(route: CompiledRoute, { guarded }: Scene): string | undefined {
  const bypassed = guarded.find(
    (other) =>
      other.upstream === route.upstream &&
      (strips(route) || strips(other)) &&
      shareMethod(route, other) &&
      isWithin(backendPath(other), backendPath(route)),
  )
  if (!bypassed) return undefined
  const stripping = strips(route) ? route : bypassed
  return `route "${route.name}" ${verbOf(route)} and reaches what "${bypassed.name}" protects at its backend, as "${stripping.name}" strips its prefix: give it the auth of "${bypassed.name}", or an upstream of its own`
}

function verbOf({ access }: CompiledRoute): string {
  return access.kind === 'public' ? 'is public' : 'lets anonymous requests pass'
}

function strips({ stripPrefix, depth }: CompiledRoute): boolean {
  return stripPrefix && depth > 0
}

/** The prefix that all its requests have at the backend. */
function backendPath(route: CompiledRoute): string {
  return strips(route) ? '' : route.prefix
}

function isWithin(prefix: string, above: string): boolean {
  return prefix === above || prefix.startsWith(`${above}/`)
}

function hostsOf(routes: readonly CompiledRoute[]): readonly string[] {
  return [...new Set(routes.map(({ host }) => host))].filter((host) => host !== undefined)
}

/** Those it takes; of one that takes all, enough to meet every one of the others. */
function methodsOf({ methods }: CompiledRoute, others: readonly CompiledRoute[]): readonly string[] {
  return [...(methods ?? new Set(['GET', ...others.flatMap((other) => [...(other.methods ?? [])])]))]
}

function shareMethod(a: CompiledRoute, b: CompiledRoute): boolean {
  const methodsOfB = b.methods
  if (!a.methods || !methodsOfB) return true
  return [...a.methods].some((method) => methodsOfB.has(method))
}

function targetOf({ name, prefix }: CompiledRoute): Target {
  const target = parseTarget(prefix || '/')
  if (!target) throw new Error(`the prefix of route ${name} is no path`)
  return target
}

function routeAt(
  table: RouteTable<UpstreamConfig>,
  { host, target, method }: { readonly host: string; readonly target: Target; readonly method: string },
): CompiledRoute | undefined {
  const match = table.match(host, target, method)
  return match.kind === 'route' ? match.route : undefined
}
