import { recordAccount } from '#gateway/arrival/outcome.ts'
import { TakeOverNeeded } from '#identity/oidc/oidc-sign-in.ts'
import type { SignedIn } from '#identity/portal/portal-sessions.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { startPath } from '../page-access.ts'
import type { PageContext, SignedInContext } from '../page-context.ts'
import type { Beginning, Flow, PortalProvider } from '../portal-oidc.ts'
import { type CreatePages, queryOf } from '../portal-page.ts'
import type { PortalRequest } from '../portal-request.ts'
import { continueTo, leaveTo, type PageResult, redirectTo, safeRedirectPath } from '../portal-response.ts'
import { takeOverPage } from '../views/sign-in-page.ts'

/** Pages that lead to the OpenID providers and back; none if the config has no provider. */
export const oidcPages: CreatePages = ({ oidc, cookies, path: base, origin }) => {
  if (!oidc) return []
  const { providers, flows, sessions, takeOvers, acceptsPasswords } = oidc

  const findProvider = (wanted: string | undefined) => providers.find(({ name }) => name === wanted)

  /** The provider that a link names; by default the one without a name, or else the only one. @throws GatehouseError */
  function chosenProvider(context: PageContext): PortalProvider {
    const name = queryOf(context)('provider')
    const only = providers.length === 1 ? providers[0] : undefined
    const chosen = name === '' ? (findProvider(undefined) ?? only) : findProvider(name)
    if (!chosen) throw new GatehouseError('route-not-found', { detail: 'No such sign-in service.' })
    return chosen
  }

  async function leave(context: PageContext, flow: Pick<Flow, 'next' | 'confirms'>): Promise<PageResult> {
    const { name, provider } = chosenProvider(context)
    const { url, secrets } = await provider.start(flow.confirms !== undefined)
    flows.start(context.request, { ...flow, ...secrets, provider: name })
    return leaveTo(url)
  }

  async function start(context: PageContext): Promise<PageResult> {
    const next = safeRedirectPath(queryOf(context)('next'))
    if (context.viewer) return redirectTo(next || startPath)
    return leave(context, { next, confirms: undefined })
  }

  async function startConfirmation(context: SignedInContext): Promise<PageResult> {
    const { account, session } = context.viewer
    const next = safeRedirectPath(queryOf(context)('next'))
    return leave(context, { next, confirms: { accountId: account.id, sessionId: session.id } })
  }

  /** @param name whose callback it is; undefined = that of the provider without a name */
  async function finish(context: PageContext, name: string | undefined): Promise<PageResult> {
    const { request, visitor } = context
    const flow = flows.take(request, queryOf(context)('state'))
    if (!flow) throw unknownFlow()
    const from = findProvider(name)
    // A provider that sends its visitors on to another one must not get what that one answers (RFC 9700 4.4).
    if (!from || flow.provider !== name) throw mixedUp(flow.provider, name)
    const { provider, signIn } = from
    await signIn.admit(visitor)
    const { person, idToken } = await provider.finish(new URL(origin + request.url), flow)
    if (flow.confirms) {
      await signIn.assertOwner(person, flow.confirms, visitor)
      recordAccount(request.arrival.outcome, flow.confirms.accountId)
      sessions.confirm(request, flow.confirms.sessionId)
    } else {
      try {
        const signedIn = await signIn.signIn(person, cookies.readClientTokens(request), visitor)
        begin(request, signedIn, { provider: name, idToken })
      } catch (error) {
        if (!(error instanceof TakeOverNeeded)) throw error
        takeOvers.set(request, { person: error.person, provider: name, idToken, next: flow.next })
        return continueTo(`${base}/sign-in/take-over`)
      }
    }
    // Checked again, as the check before sealing may be outdated.
    return continueTo(base + (safeRedirectPath(flow.next) || startPath))
  }

  function begin(request: PortalRequest, signedIn: SignedIn, beginning: Beginning): void {
    recordAccount(request.arrival.outcome, signedIn.account.id)
    cookies.setSession(request, signedIn)
    sessions.begin(request, signedIn.session, beginning)
  }

  /** The pending take-over; undefined = there is none, or its provider is no longer in the config. */
  function readTakeOver(request: PortalRequest) {
    const pending = takeOvers.read(request)
    const from = pending && findProvider(pending.provider)
    return from && { ...pending, from }
  }

  async function askToTakeOver({ request, show }: PageContext): Promise<PageResult> {
    const pending = readTakeOver(request)
    if (!pending) return redirectTo('/sign-in')
    const { from, person } = pending
    return show((frame) => takeOverPage(frame, { from, acceptsPasswords }, person.email))
  }

  async function takeOver({ request, visitor }: PageContext): Promise<PageResult> {
    const pending = readTakeOver(request)
    if (!pending) throw unknownFlow()
    const { person, from, next } = pending
    begin(request, await from.signIn.takeOver(person, cookies.readClientTokens(request), visitor), pending)
    takeOvers.clear(request)
    return redirectTo(safeRedirectPath(next) || startPath, 'account-taken-over')
  }

  return [
    { path: '/sign-in/oidc', get: start },
    { path: '/sign-in/oidc/callback', get: (context) => finish(context, undefined) },
    { path: '/sign-in/oidc/callback/:id', get: (context) => finish(context, context.request.param('id')) },
    { path: '/sign-in/take-over', get: askToTakeOver, post: takeOver },
    { path: '/confirm', get: startConfirmation },
  ]
}

function mixedUp(begun: string | undefined, name: string | undefined): GatehouseError {
  const [from, to] = [begun, name].map((each) => (each === undefined ? 'without a name' : `"${each}"`))
  return new GatehouseError('sign-in-refused', {
    cause: new Error(`the sign-in at provider ${from} came back as one at provider ${to}`),
  })
}

function unknownFlow(): GatehouseError {
  return new GatehouseError('sign-in-refused', {
    detail: 'This sign-in was started in another browser, or more than 10 minutes ago: start again.',
    cause: new Error('no cookie of a sign-in with this state'),
  })
}
