import { authorize } from '../auth/authorize.ts'
import { GatehouseError } from '../errors.ts'
import { adminRoute } from '../http/admin/route.ts'
import { joinHeaders } from '../http/join-headers.ts'
import { isAdminPath, type OwnPaths } from '../http/own-paths.ts'
import { readAssets } from '../http/portal/assets.ts'
import { sessionCookieName } from '../http/portal/cookie.ts'
import { assertOwnOrigin } from '../http/portal/csrf.ts'
import { isLook, wantsHtml } from '../http/portal/gate.ts'
import { type PortalPlan, portalPlanAt } from '../http/portal/plans.ts'
import type { Arrived } from './arrive.ts'
import { type Identifying, identify } from './identify.ts'
import { ofPolicy } from './wording.ts'

export interface Answering extends Identifying {
  readonly ownPaths: OwnPaths
}

const reading = ['GET', 'HEAD']

/**
 * Whether the path is the gateway's own, which wins over any route: then the gateway answers, by what the body says,
 * if the head permits it. @throws GatehouseError where the head is refused
 */
export async function isAnswered(arrived: Arrived, answering: Answering): Promise<boolean> {
  const { ownPaths, trail } = answering
  const { path } = arrived.target
  trail.begin('route')
  if (!ownPaths.has(path)) return false
  trail.enter(adminRoute.name)
  const methods = ownPaths.methodsOf(path)
  if (methods === undefined) visitPortal(arrived, answering)
  else {
    assertTaken(arrived, methods)
    if (isAdminPath(path)) await admit(arrived, methods, answering)
    else {
      const detail = 'the path belongs to the gateway itself, whose answer depends on the body'
      trail.pass('route', { detail, facts: { methods } })
    }
  }
  return true
}

function assertTaken({ request }: Arrived, methods: readonly string[]): void {
  if (!methods.includes(request.method)) throw new GatehouseError('method-not-allowed', { allow: methods })
}

/** The admin API authenticates callers, as a route does. */
async function admit(arrived: Arrived, methods: readonly string[], answering: Answering): Promise<void> {
  const { trail } = answering
  trail.pass('route', {
    detail: 'the path belongs to the admin API of the gateway, whose answer depends on the path and the body',
    facts: { methods },
  })
  const code = authorize(adminRoute.access, await identify(arrived, adminRoute, answering))
  if (code !== undefined) throw new GatehouseError(code)
  trail.pass('policy', ofPolicy(adminRoute))
}

/** What the portal does by the head alone: the session of a cookie is not looked up. */
function visitPortal(arrived: Arrived, { config, trail }: Answering): void {
  const { path: base } = config.portal
  const { path } = arrived.target
  if (path.startsWith(`${base}/assets/`)) {
    if (!readAssets(base).find(path)) throw new GatehouseError('route-not-found')
    assertTaken(arrived, reading)
    trail.pass('route', { detail: 'a file of the portal', facts: { methods: reading } })
    return
  }
  const plan = portalPlanAt(path.slice(base.length))
  if (!plan) throw new GatehouseError('route-not-found', { detail: 'There is no such page.' })
  const detail = admitVisitor(arrived, plan, config)
  trail.pass('route', { detail: `a page of the portal: ${detail}`, facts: { methods: plan.methods } })
}

/** @returns the portal's answer, in words */
function admitVisitor(arrived: Arrived, plan: PortalPlan, { publicOrigin }: Answering['config']): string {
  const { method, rawHeaders } = arrived.request
  const visit = { method, headers: joinHeaders(rawHeaders) }
  if (!plan.methods.includes(method) && isLook(visit)) return 'it redirects to the page of its form'
  assertTaken(arrived, plan.methods)
  if (method === 'POST') assertOwnOrigin(visit, publicOrigin)
  if (plan.access === 'anyone') return 'for anyone'
  const name = sessionCookieName(publicOrigin.startsWith('https:'))
  const pairs = visit.headers.cookie?.split(';').map((pair) => pair.trim()) ?? []
  if (pairs.some((pair) => pair.startsWith(`${name}=`) && pair !== `${name}=`)) {
    return 'the session of its cookie decides, and is not looked at'
  }
  if (!wantsHtml(visit)) throw new GatehouseError('credentials-missing', { detail: 'Sign in again.' })
  return 'it redirects to the sign-in'
}
