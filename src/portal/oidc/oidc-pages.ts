import { recordAccount } from '#gateway/gate/outcome.ts'
import { TakeOverNeeded } from '#identity/oidc/oidc-sign-in.ts'
import type { SignedIn } from '#identity/portal/portal-sessions.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import {
  callbackPath,
  confirmPath,
  safeRedirectPath,
  startPath,
  startSignInPath,
  takeOverPath,
} from '../page-access.ts'
import type { PageContext, SignedInContext } from '../page-context.ts'
import { type CreatePages, queryOf } from '../portal-page.ts'
import type { PortalRequest } from '../portal-request.ts'
import { continueTo, leaveTo, type PageResult, redirectTo } from '../portal-response.ts'
import { takeOverPage } from '../views/sign-in-page.ts'
import type { Flow } from './oidc-cookies.ts'

/** Pages that lead to the OpenID provider and back; none if the config has no provider. */
export const oidcPages: CreatePages = ({ oidc, cookie, path: base, origin }) => {
  if (!oidc) return []
  const { provider, signIn, flows, sessions, takeOvers, label, acceptsPasswords } = oidc

  async function leave(context: PageContext, flow: Pick<Flow, 'next' | 'confirms'>): Promise<PageResult> {
    const { url, secrets } = await provider.start(flow.confirms !== undefined)
    flows.start(context.request, { ...flow, ...secrets })
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

  async function finish(context: PageContext): Promise<PageResult> {
    const { request, visitor } = context
    const flow = flows.take(request, queryOf(context)('state'))
    if (!flow) throw unknownFlow()
    await signIn.admit(visitor)
    const { person, idToken } = await provider.finish(new URL(origin + request.url), flow)
    if (flow.confirms) {
      await signIn.assertOwner(person, flow.confirms, visitor)
      recordAccount(request.arrival.outcome, flow.confirms.accountId)
      sessions.confirm(request, flow.confirms.sessionId)
    } else {
      try {
        begin(request, await signIn.signIn(person, cookie.readClientTokens(request), visitor), idToken)
      } catch (error) {
        if (!(error instanceof TakeOverNeeded)) throw error
        takeOvers.set(request, { person: error.person, idToken, next: flow.next })
        return continueTo(base + takeOverPath)
      }
    }
    // Checked again, as the check before sealing may be outdated.
    return continueTo(base + (safeRedirectPath(flow.next) || startPath))
  }

  function begin(request: PortalRequest, signedIn: SignedIn, idToken: string | undefined): void {
    recordAccount(request.arrival.outcome, signedIn.account.id)
    cookie.set(request, signedIn)
    sessions.begin(request, signedIn.session, idToken)
  }

  async function askToTakeOver({ request, show }: PageContext): Promise<PageResult> {
    const pending = takeOvers.read(request)
    return pending
      ? show((frame) => takeOverPage(frame, { label, acceptsPasswords }, pending.person.email))
      : redirectTo('/sign-in')
  }

  async function takeOver({ request, visitor }: PageContext): Promise<PageResult> {
    const pending = takeOvers.read(request)
    if (!pending) throw unknownFlow()
    const { person, idToken, next } = pending
    begin(request, await signIn.takeOver(person, cookie.readClientTokens(request), visitor), idToken)
    takeOvers.clear(request)
    return redirectTo(safeRedirectPath(next) || startPath, 'account-taken-over')
  }

  return [
    { path: startSignInPath, get: start },
    { path: callbackPath, get: finish },
    { path: takeOverPath, get: askToTakeOver, post: takeOver },
    { path: confirmPath, get: startConfirmation },
  ]
}

function unknownFlow(): GatehouseError {
  return new GatehouseError('sign-in-refused', {
    detail: 'This sign-in was started in another browser, or more than 10 minutes ago: start again.',
    cause: new Error('no cookie of a sign-in with this state'),
  })
}
