import { compileRoutes, type RouteOptions } from '#gateway/routes/compile.ts'
import { parseRequestTarget, type RequestTarget } from '#gateway/routes/request-target.ts'
import type { Route } from '#gateway/routes/route.ts'
import { createRouteTable, type RouteTable } from '#gateway/routes/table.ts'
import { defaultOptions } from './default-options.ts'

export interface FakeUpstream {
  readonly responseTimeoutMs: number
  readonly idleTimeoutMs: number
}

export const upstreams: ReadonlyMap<string, FakeUpstream> = new Map([
  ['backend', { responseTimeoutMs: 30_000, idleTimeoutMs: 60_000 }],
])

/** A route with the defaults of the config. */
export const options: RouteOptions = { ...defaultOptions, upstream: 'backend' }

export function compileOne(changes: Partial<RouteOptions>): Route<FakeUpstream | undefined> {
  const [route] = compileRoutes([{ ...options, ...changes }], upstreams)
  if (!route) throw new Error('no route came out')
  return route
}

export function tableOf(routes: readonly Partial<RouteOptions>[]): RouteTable<FakeUpstream | undefined> {
  return createRouteTable(
    compileRoutes(
      routes.map((changes) => ({ ...options, ...changes })),
      upstreams,
    ),
  )
}

export function targetOf(sent: string): RequestTarget {
  const target = parseRequestTarget(sent)
  if (!target) throw new Error(`${sent} is refused`)
  return target
}
