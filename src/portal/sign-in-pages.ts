import { isChallenge } from '#gateway/browser/sign-in-return.ts'
import { destinationOf, recordAccount, recordFailure } from '#gateway/gate/outcome.ts'
import { signInReturnPath } from '#gateway/routes/route-urls.ts'
import type { SignedIn } from '#identity/portal/portal-sessions.ts'
import { SecondFactorNeeded } from '#identity/second-factor/second-factors.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Form } from './form-body.ts'
import { formRefusal } from './form-refusal.ts'
import type { PortalOidc } from './oidc/portal-oidc.ts'
import { safeRedirectPath, startPath } from './page-access.ts'
import type { PageContext, PortalOptions, SignedInContext } from './page-context.ts'
import { type CreatePages, type PortalPage, queryOf } from './portal-page.ts'
import type { PortalRequest } from './portal-request.ts'
import { continueTo, leaveTo, type PageResult, redirectTo } from './portal-response.ts'
import { emptyForm } from './views/frame.ts'
import { signInCodePage } from './views/second-factor.ts'
import { signInPage } from './views/sign-in-page.ts'

/** Pages to sign in and out. */
export const signInPages: CreatePages = (options) => {
  const { signIn, cookie, oidc } = options

  async function redirectToStart({ viewer }: PageContext): Promise<PageResult> {
    return redirectTo(viewer ? startPath : '/sign-in')
  }

  async function showSignIn(context: PageContext): Promise<PageResult> {
    const next = safeRedirectPath(queryOf(context)('next'))
    if (context.viewer) return redirectTo(next || startPath)
    return context.show((frame) => signInPage(frame, { ...emptyForm, next }))
  }

  async function submitSignIn({ form, visitor, request }: PageContext): Promise<PageResult> {
    const clientTokens = cookie.readClientTokens(request)
    const email = form('email').trim()
    return begin(
      request,
      await signIn.signIn({ email, password: form('password'), clientTokens }, visitor),
      form,
    )
  }

  async function submitCode({ form, visitor, request }: PageContext): Promise<PageResult> {
    const clientTokens = cookie.readClientTokens(request)
    const given = { pending: form('pending'), code: form('code'), clientTokens }
    return begin(request, await signIn.signInWithCode(given, visitor), form)
  }

  function begin(request: PortalRequest, signedIn: SignedIn, form: Form): PageResult {
    recordAccount(request.arrival.outcome, signedIn.account.id)
    cookie.set(request, signedIn)
    return redirectTo(safeRedirectPath(form('next')) || startPath)
  }

  async function signOut(context: SignedInContext): Promise<PageResult> {
    await signIn.signOut(context.viewer, context.visitor)
    return forget(context, redirectTo('/sign-in', 'signed-out'))
  }

  async function signOutEverywhere(context: SignedInContext): Promise<PageResult> {
    await signIn.signOutEverywhere(context.viewer, context.visitor)
    return forget(context, redirectTo('/sign-in', 'signed-out-everywhere'))
  }

  /** Clears the cookies; a person who came from a provider is signed out there too. */
  async function forget(context: SignedInContext, response: PageResult): Promise<PageResult> {
    cookie.clear(context.request)
    const url = await signOutAtProvider(oidc, context)
    return url === undefined ? response : continueTo(url)
  }

  return [
    { path: '', get: redirectToStart },
    { path: '/', get: redirectToStart },
    { path: '/sign-in', get: showSignIn, post: submitSignIn, refused: refuseSignIn },
    { path: '/sign-in/code', post: submitCode, refused: refuseCode },
    { path: '/sign-out', post: signOut },
    { path: '/sign-out-everywhere', post: signOutEverywhere },
    continuePage(options),
  ]
}

function refuseSignIn(context: PageContext, error: unknown): PageResult {
  const { form, show } = context
  const next = safeRedirectPath(form('next'))
  if (error instanceof SecondFactorNeeded)
    return show((frame) => signInCodePage(frame, { ...emptyForm, next, pending: error.pending }))
  return showRefusedSignIn(context, error, form('email').trim())
}

function refuseCode(context: PageContext, error: unknown): PageResult {
  const { form, request, show } = context
  if (!(error instanceof GatehouseError) || error.code === 'credentials-invalid')
    return showRefusedSignIn(context, tooLate(error), '')
  recordFailure(request.arrival.outcome, error)
  const refusal = formRefusal(error, {}, signInMessages)
  const state = { ...refusal.state, next: safeRedirectPath(form('next')), pending: form('pending') }
  return show((frame) => signInCodePage(frame, state), refusal)
}

function showRefusedSignIn({ form, request, show }: PageContext, error: unknown, email: string): PageResult {
  if (error instanceof GatehouseError) recordFailure(request.arrival.outcome, error)
  const refusal = formRefusal(error, { email }, signInMessages)
  const state = { ...refusal.state, next: safeRedirectPath(form('next')) }
  return show((frame) => signInPage(frame, state), refusal)
}

const signInMessages: Readonly<Record<string, string>> = {
  'credentials-invalid': 'Wrong e-mail or password.',
  'account-disabled': 'This account is disabled. Ask an administrator.',
}

/** The message about a wrong password would mislead, as it was right. */
function tooLate(error: unknown): unknown {
  if (!(error instanceof GatehouseError)) return error
  return new GatehouseError('link-invalid', {
    cause: error,
    detail: 'The code came too late. Sign in again.',
  })
}

/**
 * Forgets what the browser keeps about the providers. To be called before the session ends.
 * @returns where to sign out at the provider too; undefined if the session did not begin there, the provider has no
 * such page, or cannot be asked: the session here ends in any case
 */
async function signOutAtProvider(
  oidc: PortalOidc | undefined,
  { request, viewer }: Pick<SignedInContext, 'request' | 'viewer'>,
): Promise<string | undefined> {
  const began = oidc?.sessions.find(request, viewer.session)
  oidc?.sessions.clear(request)
  if (!began) return undefined
  const from = oidc?.providers.find(({ name }) => name === began.provider)
  return from?.provider.signOutUrl(began.idToken).catch((error: unknown) => {
    if (error instanceof GatehouseError && error.code === 'sign-in-provider-unavailable') return undefined
    throw error
  })
}

/**
 * Where page visits without a credential arrive: a person who is signed in gets new cookies, and returns to the page.
 * The page was chosen by the author of a link, and may be any page that a link could lead to directly.
 */
function continuePage({ signIn, cookie, isReturnPath, signInReturn }: PortalOptions): PortalPage {
  async function continueToPage(context: SignedInContext): Promise<PageResult> {
    const { request, viewer, visitor } = context
    const to = queryOf(context)('to')
    const { hostName } = destinationOf(request.arrival.outcome)
    if (isReturnPath?.(to, hostName) !== true) return redirectTo(startPath)
    const tokens = await signIn.renewTokens(viewer, visitor)
    if (tokens === undefined) return askAgain(context)
    cookie.setTokens(request, tokens)
    return leaveTo(to)
  }

  /** The session was ended, by an Admin or with all others, so this browser is signed out. */
  async function askAgain({ request, viewer, visitor }: SignedInContext): Promise<PageResult> {
    await signIn.signOut(viewer, visitor)
    cookie.clear(request)
    const next = encodeURIComponent(request.url.slice(cookie.path.length))
    return redirectTo(`/sign-in?next=${next}`, 'session-over')
  }

  /** The page is on another host, which gets a code that only the browser that began the visit can use. */
  async function returnToHost(context: SignedInContext): Promise<PageResult> {
    const query = queryOf(context)
    const page = { to: query('to'), hostName: query('host'), challenge: query('state') }
    const origin = signInReturn?.hosts.get(page.hostName)
    const isRight = isChallenge(page.challenge) && isReturnPath?.(page.to, page.hostName) === true
    if (!signInReturn || origin === undefined || !isRight) return redirectTo(startPath)
    if (!(await signIn.canResume(context.viewer, context.visitor))) return askAgain(context)
    const code = signInReturn.codes.create(context.viewer, page)
    // Not a redirect, as browsers follow none to another host after the sign-in form (`form-action`).
    return continueTo(`${origin}${signInReturnPath}?code=${code}`)
  }

  return { path: '/continue', get: signInReturn ? returnToHost : continueToPage }
}
