import { destinationOf, recordAccount, recordFailure } from '#gateway/arrival/outcome.ts'
import { isChallenge } from '#gateway/browser/sign-in-return.ts'
import { signInReturnPath } from '#gateway/routes/own-paths.ts'
import type { SignedIn } from '#identity/portal/portal-sessions.ts'
import type { SignIn } from '#identity/portal/sign-in.ts'
import type { Passkeys } from '#identity/second-factor/passkeys.ts'
import { SecondFactorNeeded } from '#identity/second-factor/second-factors.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Form } from '../forms/body.ts'
import { formRefusal, inWordsOf } from '../forms/refusal.ts'
import { startPath } from '../page-access.ts'
import type { PageContext, PortalOptions, SignedInContext } from '../page-context.ts'
import { signOutAtProvider } from '../portal-oidc.ts'
import { type CreatePages, type PortalPage, queryOf } from '../portal-page.ts'
import type { PortalRequest } from '../portal-request.ts'
import { continueTo, leaveTo, type PageResult, redirectTo, safeRedirectPath } from '../portal-response.ts'
import { emptyForm } from '../views/frame.ts'
import { signInCodePage } from '../views/second-factor.ts'
import { signInPage } from '../views/sign-in-page.ts'
import { flowOf, givenIn, passkeyFormBytesMax } from './passkey-pages.ts'

export const signInPages: CreatePages = (options) => {
  const { signIn, cookies, oidc, passkeys } = options

  async function redirectToStart({ viewer }: PageContext): Promise<PageResult> {
    return redirectTo(viewer ? startPath : '/sign-in')
  }

  async function showSignIn(context: PageContext): Promise<PageResult> {
    const next = safeRedirectPath(queryOf(context)('next'))
    if (context.viewer) return redirectTo(next || startPath)
    return context.show((frame) => signInPage(frame, { ...emptyForm, next }))
  }

  async function submitSignIn({ form, visitor, request }: PageContext): Promise<PageResult> {
    const clientTokens = cookies.readClientTokens(request)
    const email = form('email').trim()
    return begin(
      request,
      await signIn.signIn({ email, password: form('password'), clientTokens }, visitor),
      form,
    )
  }

  async function submitCode(context: PageContext): Promise<PageResult> {
    const { form, visitor, request } = context
    const clientTokens = cookies.readClientTokens(request)
    const pending = form('pending')
    const isPasskey = form('credential') !== ''
    const account = isPasskey ? (await signIn.findPending(pending))?.account : undefined
    const given = isPasskey ? givenIn('second-factor', context, account) : form('code')
    return begin(
      request,
      await signIn.signInWithSecondFactor({ pending, given, clientTokens }, visitor),
      form,
    )
  }

  async function submitPasskey(context: PageContext): Promise<PageResult> {
    const { form, request } = context
    const clientTokens = cookies.readClientTokens(request)
    const given = givenIn('sign-in', context, undefined)
    return begin(request, await signIn.signInWithPasskey({ ...given, clientTokens }), form)
  }

  /** The options for asking the browser for a passkey: after the password for one of the account, otherwise for any. */
  async function createOptions(context: PageContext, passkeys: Passkeys): Promise<PageResult> {
    const pending = context.form('pending')
    if (pending === '')
      return { kind: 'data', data: passkeys.requestOptions(flowOf('sign-in', context, undefined)) }
    const { account } = (await signIn.findPending(pending)) ?? {}
    if (!account) throw new GatehouseError('link-invalid', { detail: context.texts.errors.codeTooLate })
    const flow = flowOf('second-factor', context, account)
    return { kind: 'data', data: passkeys.requestOptions(flow, account) }
  }

  function begin(request: PortalRequest, signedIn: SignedIn, form: Form): PageResult {
    recordAccount(request.arrival.outcome, signedIn.account.id)
    cookies.setSession(request, signedIn)
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
    cookies.clearSession(context.request)
    const url = await signOutAtProvider(oidc, context)
    return url === undefined ? response : continueTo(url)
  }

  const passkeyPages = (passkeys: Passkeys): readonly PortalPage[] => [
    {
      path: '/sign-in/passkey',
      bytesMax: passkeyFormBytesMax,
      post: submitPasskey,
      refused: (context, error) => showRefusedSignIn(context, inWordsOf(error, disabled(context)), ''),
    },
    { path: '/sign-in/passkey/options', post: (context) => createOptions(context, passkeys) },
  ]

  return [
    { path: '', get: redirectToStart },
    { path: '/', get: redirectToStart },
    {
      path: '/sign-in',
      get: showSignIn,
      post: submitSignIn,
      refused: (context, error) => refuseSignIn(context, error, signIn),
    },
    {
      path: '/sign-in/code',
      bytesMax: passkeyFormBytesMax,
      post: submitCode,
      refused: (context, error) => refuseCode(context, error, signIn),
    },
    ...(passkeys ? passkeyPages(passkeys) : []),
    { path: '/sign-out', post: signOut },
    { path: '/sign-out-everywhere', post: signOutEverywhere },
    continuePage(options),
  ]
}

type Pending = Pick<SignIn, 'findPending'>

async function refuseSignIn(
  context: PageContext,
  error: unknown,
  { findPending }: Pending,
): Promise<PageResult> {
  const { form, show } = context
  if (!(error instanceof SecondFactorNeeded)) {
    const wrong = { 'credentials-invalid': context.texts.errors.wrongEmailOrPassword }
    const inWords = inWordsOf(error, { ...disabled(context), ...wrong })
    return showRefusedSignIn(context, inWords, form('email').trim())
  }
  const { pending } = error
  const next = safeRedirectPath(form('next'))
  const choice = (await findPending(pending)) ?? noChoice
  return show((frame) => signInCodePage(frame, { ...emptyForm, ...choice, next, pending }))
}

/**
 * What the page asks for if the pending sign-in is no longer found, as the account has just changed: whatever is
 * submitted is then refused.
 */
const noChoice = { hasApp: true, hasPasskeys: false } as const

async function refuseCode(
  context: PageContext,
  error: unknown,
  { findPending }: Pending,
): Promise<PageResult> {
  const { form, request, show } = context
  const pending = form('pending')
  const choice = await findPending(pending)
  if (!(error instanceof GatehouseError) || error.code === 'credentials-invalid' || !choice)
    return showRefusedSignIn(context, tooLate(error, context), '')
  recordFailure(request.arrival.outcome, error)
  const refusal = formRefusal(context, inWordsOf(error, disabled(context)))
  const state = { ...refusal.state, ...choice, next: safeRedirectPath(form('next')), pending }
  return show((frame) => signInCodePage(frame, state), refusal)
}

function showRefusedSignIn(context: PageContext, error: unknown, email: string): PageResult {
  const { form, request, show } = context
  if (error instanceof GatehouseError) recordFailure(request.arrival.outcome, error)
  const refusal = formRefusal(context, error, { email })
  const state = { ...refusal.state, next: safeRedirectPath(form('next')) }
  return show((frame) => signInPage(frame, state), refusal)
}

function disabled({ texts }: PageContext) {
  return { 'account-disabled': texts.errors.disabled } as const
}

/** Not the message about a wrong password, which would mislead, as the password was right. */
function tooLate(error: unknown, { texts }: PageContext): unknown {
  if (!(error instanceof GatehouseError)) return error
  return new GatehouseError('link-invalid', { cause: error, detail: texts.errors.codeTooLate })
}

/**
 * Where page visits without a credential are sent to: a person who is signed in gets new cookies, and is sent back to
 * the page. The author of a link can choose that page, but only among those that a link could open directly.
 */
function continuePage({ signIn, cookies, isReturnPath, signInReturn }: PortalOptions): PortalPage {
  async function continueToPage(context: SignedInContext): Promise<PageResult> {
    const { request, viewer, visitor } = context
    const to = queryOf(context)('to')
    const { hostName } = destinationOf(request.arrival.outcome)
    if (isReturnPath?.(to, hostName) !== true) return redirectTo(startPath)
    const tokens = await signIn.renewTokens(viewer, visitor)
    if (tokens === undefined) return askAgain(context)
    cookies.setTokens(request, tokens)
    return leaveTo(to)
  }

  /** The session was ended, by an Admin or with all others, so this browser is signed out. */
  async function askAgain({ request, viewer, visitor }: SignedInContext): Promise<PageResult> {
    await signIn.signOut(viewer, visitor)
    cookies.clearSession(request)
    const next = encodeURIComponent(request.url.slice(cookies.path.length))
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
