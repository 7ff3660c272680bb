import { GatehouseError } from '../../errors.ts'
import { setupPage, signInPage, verifyEmailPage } from '../../portal/door.ts'
import { emptyForm } from '../../portal/frame.ts'
import { arrivalOf } from '../arrival.ts'
import { noteFailure } from '../problem.ts'
import { type Answer, goTo } from './answer.ts'
import { formRefusal, wrongField } from './form-refusal.ts'
import { type Pages, queryOf } from './pages.ts'
import { portalPlanAt } from './plans.ts'
import type { SignedInVisit, Visit } from './visit.ts'

/** The first page after signing in. */
const start = '/integration'

/** Pages to sign in and out. */
export const doorPages: Pages = ({ signIn, cookie, emailVerification }) => {
  async function begin({ viewer }: Visit): Promise<Answer> {
    return goTo(viewer ? start : '/sign-in')
  }

  async function showSignIn(visit: Visit): Promise<Answer> {
    const next = safeNext(queryOf(visit)('next'))
    if (visit.viewer) return goTo(next || start)
    return visit.show((frame) => signInPage(frame, { ...emptyForm, next }))
  }

  async function enter(visit: Visit): Promise<Answer> {
    const { form, visitor, reply, request } = visit
    const next = safeNext(form('next'))
    const email = form('email').trim()
    try {
      const clientTokens = cookie.readClientTokens(request)
      const signedIn = await signIn.signIn({ email, password: form('password'), clientTokens }, visitor)
      arrivalOf(request.raw).outcome.accountId = signedIn.account.id
      cookie.set(reply, signedIn)
    } catch (error) {
      if (error instanceof GatehouseError) noteFailure(arrivalOf(request.raw), error)
      const refusal = formRefusal(error, { email }, signInWords)
      return visit.show((frame) => signInPage(frame, { ...refusal.state, next }), refusal)
    }
    return goTo(next || start)
  }

  async function choosePassword(visit: Visit): Promise<Answer> {
    const { form, visitor, reply } = visit
    try {
      assertSameTwice(visit)
      const token = tokenOf(form('token'))
      cookie.set(reply, await signIn.redeemSetupLink({ token, password: form('password') }, visitor))
    } catch (error) {
      const refusal = formRefusal(error, keptToken(visit, error))
      return visit.show((frame) => setupPage(frame, refusal.state), refusal)
    }
    return goTo(start, 'welcome')
  }

  async function verifyEmail(visit: Visit): Promise<Answer> {
    const { form, visitor } = visit
    try {
      await emailVerification.verify(tokenOf(form('token')), visitor)
    } catch (error) {
      const refusal = formRefusal(error, keptToken(visit, error))
      return visit.show((frame) => verifyEmailPage(frame, refusal.state), refusal)
    }
    return goTo(visit.viewer ? '/profile' : '/sign-in', 'email-verified')
  }

  async function signOut({ viewer, visitor, reply }: SignedInVisit): Promise<Answer> {
    await signIn.signOut(viewer, visitor)
    cookie.clear(reply)
    return goTo('/sign-in', 'signed-out')
  }

  async function signOutEverywhere({ viewer, visitor, reply }: SignedInVisit): Promise<Answer> {
    await signIn.signOutEverywhere(viewer, visitor)
    cookie.clear(reply)
    return goTo('/sign-in', 'signed-out-everywhere')
  }

  return [
    { path: '', get: begin },
    { path: '/', get: begin },
    { path: '/sign-in', get: showSignIn, post: enter },
    {
      path: '/setup',
      get: async (visit) => visit.show((frame) => setupPage(frame, emptyForm)),
      post: choosePassword,
    },
    {
      path: '/verify',
      get: async (visit) => visit.show((frame) => verifyEmailPage(frame, emptyForm)),
      post: verifyEmail,
    },
    { path: '/sign-out', post: signOut },
    { path: '/sign-out-everywhere', post: signOutEverywhere },
  ]
}

const signInWords: Readonly<Record<string, string>> = {
  'credentials-invalid': 'E-mail and password do not match.',
  'account-disabled': 'This account is disabled. Ask an administrator.',
}

/** @throws GatehouseError `request-invalid` where the new password was typed differently the second time */
export function assertSameTwice({ form }: Visit): void {
  if (form('password') !== form('again')) throw wrongField('again', 'The passwords are not the same.')
}

/** The token that the form keeps: a link that does not work is cleared, to make room for another. */
function keptToken({ form }: Visit, error: unknown): { readonly token: string } {
  const isSpent = error instanceof GatehouseError && error.code === 'link-invalid'
  return { token: isSpent ? '' : tokenOf(form('token')) }
}

/** The token after the # of a link, or the text itself. */
function tokenOf(typed: string): string {
  return typed.slice(typed.lastIndexOf('#') + 1).trim()
}

const nextLengthMax = 500

/**
 * A page of the portal to go on to; empty for anything else. A browser takes out dot segments, encoded ones too, and
 * would leave the portal by them.
 */
function safeNext(next: string): string {
  const [path = ''] = next.split('?', 1)
  if (!/^\/[\w/?=&%.~+-]*$/.test(next) || next.length > nextLengthMax) return ''
  if (/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) return ''
  return portalPlanAt(path)?.methods.includes('GET') ? next : ''
}
