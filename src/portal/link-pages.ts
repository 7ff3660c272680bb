import { OwnerNeeded } from '#accounts/profile.ts'
import { recordFailure } from '#gateway/gate/outcome.ts'
import { needsSecondFactor } from '#identity/second-factor/policy.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { formRefusal } from './form-refusal.ts'
import { startPath } from './page-access.ts'
import type { PageContext } from './page-context.ts'
import type { CreatePages } from './portal-page.ts'
import { type PortalResponse, redirectTo } from './portal-response.ts'
import { emptyForm } from './views/frame.ts'
import {
  forgottenPage,
  linkRequestedPage,
  passwordLinkPage,
  setupPage,
  verifyEmailPage,
} from './views/links.ts'

/** Pages that links open: to choose a password, and to verify an e-mail. */
export const linkPages: CreatePages = ({ signIn, cookie, emailVerification, requireSecondFactor }) => {
  async function checkLink(context: PageContext): Promise<PortalResponse> {
    const token = tokenFromLink(context.form('token'))
    try {
      const { expiresAt } = await signIn.links.check(token)
      return context.show((frame) => setupPage(frame, { ...emptyForm, values: { token } }, expiresAt))
    } catch (error) {
      const refusal = formRefusal(error, {})
      return context.show((frame) => passwordLinkPage(frame, refusal.state), refusal)
    }
  }

  async function choosePassword(context: PageContext): Promise<PortalResponse> {
    const { form, visitor, request } = context
    try {
      assertPasswordsMatch(context)
      const token = tokenFromLink(form('token'))
      const signedIn = await signIn.redeemLink({ token, password: form('password') }, visitor)
      if (!signedIn) return redirectTo('/sign-in', 'password-set')
      cookie.set(request, signedIn)
    } catch (error) {
      const refusal = formRefusal(error, reusableToken(context, error))
      if (isSpent(error)) return context.show((frame) => passwordLinkPage(frame, refusal.state), refusal)
      return context.show((frame) => setupPage(frame, refusal.state, undefined), refusal)
    }
    return redirectTo(startPath, 'welcome')
  }

  async function verifyEmail(context: PageContext): Promise<PortalResponse> {
    const { form, visitor, viewer } = context
    // As for every other page, which this one, for anybody, is not checked as.
    if (viewer && needsSecondFactor(viewer.account, requireSecondFactor))
      return redirectTo('/profile/two-factor')
    try {
      await emailVerification.verify(tokenFromLink(form('token')), viewer?.account.id, visitor)
    } catch (error) {
      if (error instanceof OwnerNeeded) return askOwner(context, error)
      const refusal = formRefusal(error, reusableToken(context, error))
      return context.show((frame) => verifyEmailPage(frame, refusal.state), refusal)
    }
    return redirectTo('/profile', 'email-verified')
  }

  /** The link stays in the form: who signs in meanwhile, in another tab, can send it again. */
  function askOwner({ form, show, viewer }: PageContext, needed: OwnerNeeded): PortalResponse {
    const state = { ...emptyForm, values: { token: tokenFromLink(form('token')) } }
    const { account, email } = needed
    const view = { account, email, viewer: viewer?.account.email }
    return show((frame) => verifyEmailPage(frame, state, view), { status: 403, headers: {} })
  }

  return [
    {
      path: '/setup',
      get: async (context) => context.show((frame) => passwordLinkPage(frame, emptyForm)),
      post: choosePassword,
    },
    { path: '/setup/check', post: checkLink },
    {
      path: '/verify',
      get: async (context) => context.show((frame) => verifyEmailPage(frame, emptyForm)),
      post: verifyEmail,
    },
  ]
}

/** @throws GatehouseError `request-invalid` if the two new passwords differ */
export function assertPasswordsMatch({ form }: PageContext): void {
  if (form('password') !== form('again')) throw invalidField('again', 'The passwords do not match.')
}

/** The token to keep in the form: that of an invalid link is cleared, so that another can be pasted. */
function reusableToken({ form }: PageContext, error: unknown): { readonly token: string } {
  return { token: isSpent(error) ? '' : tokenFromLink(form('token')) }
}

function isSpent(error: unknown): boolean {
  return error instanceof GatehouseError && error.code === 'link-invalid'
}

/** The token after the # of a link, or the whole text. */
function tokenFromLink(typed: string): string {
  return typed.slice(typed.lastIndexOf('#') + 1).trim()
}

/** The page for a forgotten password: it answers every e-mail alike. */
export const forgottenPages: CreatePages = ({ passwordResets }) => {
  const { canSend, linkLifetimeMs } = passwordResets

  async function requestLink(context: PageContext): Promise<PortalResponse> {
    const { form, visitor, request } = context
    const email = form('email').trim()
    try {
      await passwordResets.request(email, visitor)
    } catch (error) {
      if (error instanceof GatehouseError) recordFailure(request.arrival.outcome, error)
      const refusal = formRefusal(error, { email })
      return context.show((frame) => forgottenPage(frame, refusal.state, passwordResets), refusal)
    }
    return context.show((frame) => linkRequestedPage(frame, { email, linkLifetimeMs }))
  }

  return [
    {
      path: '/forgot',
      get: async (context) =>
        context.show((frame) => forgottenPage(frame, emptyForm, { canSend, linkLifetimeMs })),
      post: requestLink,
    },
  ]
}
