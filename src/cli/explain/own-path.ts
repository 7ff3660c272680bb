import { adminRoute, createOwnAmbientKeyCheck, gatedRouteOf, ownAccountRoute } from '#api/admission.ts'
import { noFeedError } from '#api/revocations.ts'
import type { Config } from '#config/config.ts'
import { destinationOf, recordRouteName } from '#gateway/arrival/outcome.ts'
import { onlyCookieIn } from '#gateway/browser/browser-fields.ts'
import { createGate, type GateOptions } from '#gateway/gate/gate.ts'
import type { StepListener } from '#gateway/gate/gate-result.ts'
import {
  changePasswordPath,
  documentMethods,
  isGatedPath,
  revocationsPath,
} from '#gateway/routes/own-operations.ts'
import type { OwnPaths } from '#gateway/routes/own-paths.ts'
import type { RequestTarget } from '#gateway/routes/request-target.ts'
import type { GatedRoute } from '#gateway/routes/route.ts'
import { joinHeaders } from '#gateway/server/own-endpoints.ts'
import { relyingPartyOf } from '#identity/second-factor/webauthn.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { sessionCookieName } from '#portal/cookies.ts'
import { isOidcPath, isPasskeyPath, isRootPath, pageAccessAt } from '#portal/page-access.ts'
import { decidePage, type PageDecision } from '#portal/portal-gate.ts'
import type { PortalHead } from '#portal/portal-request.ts'
import { assetMethods, readAssets, requestedAsset } from '#portal/read-assets.ts'
import type { StepResult } from './explanation.ts'
import type { ExplainedArrival } from './read-arrival.ts'

interface OwnPathContext {
  readonly config: Config
  readonly ownPaths: OwnPaths
  /** What the gate decides by. */
  readonly gateOptions: Omit<GateOptions<GatedRoute>, 'findRoute' | 'steps'>
  readonly steps: StepListener
  /** Records that the step `route` has passed. */
  passRoute(result: StepResult): void
}

/**
 * Explains a request to one of the gateway's own paths: the gateway responds, depending on the body, if the head is
 * accepted. @throws GatehouseError if the head is rejected
 */
export async function explainOwnPath(arrival: ExplainedArrival, context: OwnPathContext): Promise<void> {
  const { ownPaths, passRoute } = context
  const { target } = destinationOf(arrival.outcome)
  const { path } = target
  recordRouteName(arrival.outcome, adminRoute.name)
  const methods = ownPaths.methodsOf(path)
  if (methods === undefined) {
    await explainPortalPath(arrival, target, context)
    return
  }
  assertMethodAllowed(arrival, methods)
  if (isGatedPath(path)) await explainAdmission(arrival, methods, context)
  else {
    const detail = 'a path of the gateway itself; the response depends on the body'
    passRoute({ detail, facts: { methods } })
  }
}

function assertMethodAllowed({ head }: ExplainedArrival, methods: readonly string[]): void {
  if (!methods.includes(head.method)) throw new GatehouseError('method-not-allowed', { allow: methods })
}

/** The gate admits callers, as it does for a route. */
async function explainAdmission(
  arrival: ExplainedArrival,
  methods: readonly string[],
  { config, gateOptions, steps, passRoute }: OwnPathContext,
): Promise<void> {
  const { path } = destinationOf(arrival.outcome).target
  const route = gatedRouteOf(path, config.tokens.introspection)
  const detail = gatedDetail(route)
  const gate = createGate<GatedRoute, ExplainedArrival>({
    ...gateOptions,
    checkAmbientKey: createOwnAmbientKeyCheck(config.publicOrigin),
    findRoute: () => route,
    steps: {
      passed: (step) => {
        if (step === 'route') passRoute({ detail, facts: { methods } })
        else steps.passed(step)
      },
    },
  })
  const result = await gate(arrival)
  if (result instanceof GatehouseError) throw result
  if (path === revocationsPath && !config.tokens.revocationFeed.enabled) throw noFeedError()
}

function gatedDetail(route: GatedRoute): string {
  if (route === adminRoute) return 'a path of the admin API; the response depends on the path and the body'
  return route === ownAccountRoute
    ? "a path of the gateway itself, about the caller's own account"
    : 'a path of the gateway itself, for callers that may introspect tokens'
}

/** What the portal decides by the head alone: the session of a cookie is not looked up. */
async function explainPortalPath(
  arrival: ExplainedArrival,
  { path, query }: RequestTarget,
  { config, passRoute }: OwnPathContext,
): Promise<void> {
  const { path: base } = config.portal
  const { method } = arrival.head
  if (path.startsWith(`${base}/assets/`)) {
    requestedAsset(readAssets(base, config.portal.branding), { url: path + query, method })
    passRoute({ detail: 'a file of the portal', facts: { methods: assetMethods } })
    return
  }
  if (path === changePasswordPath) {
    assertMethodAllowed(arrival, documentMethods)
    passRoute({
      detail: 'redirects to the page of the portal where passwords are changed',
      facts: { methods: documentMethods },
    })
    return
  }
  const page = pageAccessAt(path.slice(base.length))
  if (!page || !isConfigured(page.path, config.portal))
    throw new GatehouseError('route-not-found', { detail: 'There is no such page.' })
  const { requireSecondFactor, origin, host } = config.portal
  const request = { method, headers: joinHeaders(arrival.head.rawHeaders) }
  const findViewer = async () =>
    hasSessionCookie(request, origin, host !== undefined) ? 'unchecked' : undefined
  const decision = await decidePage(request, page, {
    publicOrigin: origin,
    findViewer,
    requireSecondFactor,
  })
  const answer = decision === 'public' && isRootPath(page.path) ? rootAnswer : pageAnswers[decision]
  passRoute({ detail: `a page of the portal: ${answer}`, facts: { methods: page.methods } })
}

function isConfigured(path: string, { oidc, origin, acceptsPasswords, branding }: Config['portal']): boolean {
  if (isOidcPath(path)) return oidc.length > 0
  return !isPasskeyPath(path) || (acceptsPasswords && relyingPartyOf(origin, branding.name) !== undefined)
}

/** The portal's response, as text. */
const pageAnswers: Readonly<Record<PageDecision, string>> = {
  'form-page': 'redirects to the page with the form',
  public: 'for anyone',
  'sign-in': 'redirects to sign-in',
  enrol: 'redirects to the set-up of a second factor',
  'signed-in': 'the session cookie decides; it is not checked here',
}

const rootAnswer = 'redirects to the first page, or without a session to sign-in'

function hasSessionCookie({ headers }: PortalHead, origin: string, isAlone: boolean): boolean {
  const name = sessionCookieName({ isSecure: origin.startsWith('https:'), isAlone })
  return typeof onlyCookieIn(['cookie', headers.cookie ?? ''], name) === 'string'
}
