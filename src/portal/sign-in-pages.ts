import { GatehouseError } from '../errors/gatehouse-error.ts'
import { recordAccount, recordFailure } from '../http/outcome.ts'
import { formRefusal } from './form-refusal.ts'
import { pageAccessAt } from './page-access.ts'
import type { PageContext, SignedInContext } from './page-context.ts'
import { type CreatePages, queryOf } from './portal-page.ts'
import { type PortalResponse, redirectTo } from './portal-response.ts'
import { emptyForm } from './views/frame.ts'
import { signInPage } from './views/sign-in.ts'

/** The first page after signing in. */
export const startPath = '/integration'

/** Pages to sign in and out. */
export const signInPages: CreatePages = ({ signIn, cookie }) => {
  async function redirectToStart({ viewer }: PageContext): Promise<PortalResponse> {
    return redirectTo(viewer ? startPath : '/sign-in')
  }

  async function showSignIn(context: PageContext): Promise<PortalResponse> {
    const next = safeRedirectPath(queryOf(context)('next'))
    if (context.viewer) return redirectTo(next || startPath)
    return context.show((frame) => signInPage(frame, { ...emptyForm, next }))
  }

  async function submitSignIn(context: PageContext): Promise<PortalResponse> {
    const { form, visitor, request } = context
    const next = safeRedirectPath(form('next'))
    const email = form('email').trim()
    try {
      const clientTokens = cookie.readClientTokens(request)
      const signedIn = await signIn.signIn({ email, password: form('password'), clientTokens }, visitor)
      recordAccount(request.arrival.outcome, signedIn.account.id)
      cookie.set(request, signedIn)
    } catch (error) {
      if (error instanceof GatehouseError) recordFailure(request.arrival.outcome, error)
      const refusal = formRefusal(error, { email }, signInMessages)
      return context.show((frame) => signInPage(frame, { ...refusal.state, next }), refusal)
    }
    return redirectTo(next || startPath)
  }

  async function signOut({ viewer, visitor, request }: SignedInContext): Promise<PortalResponse> {
    await signIn.signOut(viewer, visitor)
    cookie.clear(request)
    return redirectTo('/sign-in', 'signed-out')
  }

  async function signOutEverywhere({ viewer, visitor, request }: SignedInContext): Promise<PortalResponse> {
    await signIn.signOutEverywhere(viewer, visitor)
    cookie.clear(request)
    return redirectTo('/sign-in', 'signed-out-everywhere')
  }

  return [
    { path: '', get: redirectToStart },
    { path: '/', get: redirectToStart },
    { path: '/sign-in', get: showSignIn, post: submitSignIn },
    { path: '/sign-out', post: signOut },
    { path: '/sign-out-everywhere', post: signOutEverywhere },
  ]
}

const signInMessages: Readonly<Record<string, string>> = {
  'credentials-invalid': 'Wrong e-mail or password.',
  'account-disabled': 'This account is disabled. Ask an administrator.',
}

const nextLengthMax = 500

/**
 * The path if it is a page of the portal, else empty. Browsers resolve dot segments, encoded ones too, and could leave
 * the portal by them.
 */
function safeRedirectPath(next: string): string {
  const [path = ''] = next.split('?', 1)
  if (!/^\/[\w/?=&%.~+-]*$/.test(next) || next.length > nextLengthMax) return ''
  if (/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) return ''
  return pageAccessAt(path)?.methods.includes('GET') ? next : ''
}
