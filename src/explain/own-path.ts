import { authorize } from '../auth/authorize.ts'
import { adminRoute } from '../endpoints/admin/admin-route.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { joinHeaders } from '../http/join-headers.ts'
import { assertOwnOrigin } from '../portal/csrf.ts'
import { type PageAccess, pageAccessAt } from '../portal/page-access.ts'
import { sessionCookieName } from '../portal/portal-cookie.ts'
import { acceptsHtml, isPageNavigation } from '../portal/portal-gate.ts'
import { readAssets } from '../portal/read-assets.ts'
import { isAdminPath, type OwnPaths } from '../routes/own-paths.ts'
import { describePolicy } from './describe-steps.ts'
import { type IdentifyContext, identify } from './identify.ts'
import type { ExplainedArrival } from './read-arrival.ts'

export interface OwnPathContext extends IdentifyContext {
  readonly ownPaths: OwnPaths
}

const assetMethods = ['GET', 'HEAD']

/**
 * Whether the path is the gateway's own, which takes precedence over any route: then the gateway responds, depending
 * on the body, if the head is accepted. @throws GatehouseError if the head is rejected
 */
export async function isAnsweredByGateway(
  arrival: ExplainedArrival,
  context: OwnPathContext,
): Promise<boolean> {
  const { ownPaths, trace } = context
  const { path } = arrival.target
  trace.beginStep('route')
  if (!ownPaths.has(path)) return false
  trace.setRoute(adminRoute.name)
  const methods = ownPaths.methodsOf(path)
  if (methods === undefined) explainPortalPath(arrival, context)
  else {
    assertMethodAllowed(arrival, methods)
    if (isAdminPath(path)) await authorizeAdmin(arrival, methods, context)
    else {
      const detail = 'a path of the gateway itself; the response depends on the body'
      trace.passStep('route', { detail, facts: { methods } })
    }
  }
  return true
}

function assertMethodAllowed({ request }: ExplainedArrival, methods: readonly string[]): void {
  if (!methods.includes(request.method)) throw new GatehouseError('method-not-allowed', { allow: methods })
}

/** The admin API authenticates callers, as a route does. */
async function authorizeAdmin(
  arrival: ExplainedArrival,
  methods: readonly string[],
  context: OwnPathContext,
): Promise<void> {
  const { trace } = context
  trace.passStep('route', {
    detail: 'a path of the admin API; the response depends on the path and the body',
    facts: { methods },
  })
  const code = authorize(adminRoute.access, await identify(arrival, adminRoute, context))
  if (code !== undefined) throw new GatehouseError(code)
  trace.passStep('policy', describePolicy(adminRoute))
}

/** What the portal decides by the head alone: the session of a cookie is not looked up. */
function explainPortalPath(arrival: ExplainedArrival, { config, trace }: OwnPathContext): void {
  const { path: base } = config.portal
  const { path } = arrival.target
  if (path.startsWith(`${base}/assets/`)) {
    if (!readAssets(base).find(path)) throw new GatehouseError('route-not-found')
    assertMethodAllowed(arrival, assetMethods)
    trace.passStep('route', { detail: 'a file of the portal', facts: { methods: assetMethods } })
    return
  }
  const page = pageAccessAt(path.slice(base.length))
  if (!page) throw new GatehouseError('route-not-found', { detail: 'There is no such page.' })
  const detail = describePageAnswer(arrival, page, config)
  trace.passStep('route', { detail: `a page of the portal: ${detail}`, facts: { methods: page.methods } })
}

/** @returns the portal's response, as text */
function describePageAnswer(
  arrival: ExplainedArrival,
  page: PageAccess,
  { publicOrigin }: OwnPathContext['config'],
): string {
  const { method, rawHeaders } = arrival.request
  const request = { method, headers: joinHeaders(rawHeaders) }
  if (!page.methods.includes(method) && isPageNavigation(request))
    return 'redirects to the page with the form'
  assertMethodAllowed(arrival, page.methods)
  if (method === 'POST') assertOwnOrigin(request, publicOrigin)
  if (page.access === 'anyone') return 'for anyone'
  const name = sessionCookieName(publicOrigin.startsWith('https:'))
  const pairs = request.headers.cookie?.split(';').map((pair) => pair.trim()) ?? []
  if (pairs.some((pair) => pair.startsWith(`${name}=`) && pair !== `${name}=`)) {
    return 'the session cookie decides; it is not checked here'
  }
  if (!acceptsHtml(request)) throw new GatehouseError('credentials-missing', { detail: 'Sign in again.' })
  return 'redirects to sign-in'
}
