import { OwnerNeeded } from '#accounts/email-verification.ts'
import { recordFailure } from '#gateway/arrival/outcome.ts'
import { needsSecondFactor } from '#identity/second-factor/second-factors.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { formRefusal } from '../forms/refusal.ts'
import { startPath } from '../page-access.ts'
import type { PageContext } from '../page-context.ts'
import type { CreatePages } from '../portal-page.ts'
import { type PageResult, redirectTo } from '../portal-response.ts'
import { emptyForm } from '../views/frame.ts'
import {
  forgottenPage,
  linkRequestedPage,
  passwordLinkPage,
  setupPage,
  verifyEmailPage,
} from '../views/links.ts'

/** Pages to request a link for a forgotten password, and those that links open. */
export const linkPages: CreatePages = ({
  signIn,
  cookies,
  verifyEmail,
  passwordResets,
  requireSecondFactor,
}) => [
  {
    path: '/forgot',
    get: async (context) => context.show((frame) => forgottenPage(frame, emptyForm, passwordResets)),
    // The answer is the same for every e-mail.
    post: async ({ form, visitor, language, show }) => {
      const email = form('email').trim()
      await passwordResets.request(email, visitor, language)
      const { linkLifetimeMs } = passwordResets
      return show((frame) => linkRequestedPage(frame, { email, linkLifetimeMs }))
    },
    refused: (context, error) => {
      const { form, request, show } = context
      if (error instanceof GatehouseError) recordFailure(request.arrival.outcome, error)
      const refusal = formRefusal(context, error, { email: form('email').trim() })
      return show((frame) => forgottenPage(frame, refusal.state, passwordResets), refusal)
    },
  },
  {
    path: '/setup',
    get: async (context) => context.show((frame) => passwordLinkPage(frame, emptyForm)),
    post: async (context) => {
      const { form, visitor, request } = context
      assertPasswordsMatch(context)
      const token = tokenFromLink(form('token'))
      const signedIn = await signIn.redeemLink({ token, password: form('password') }, visitor)
      if (!signedIn) return redirectTo('/sign-in', 'password-set')
      cookies.setSession(request, signedIn)
      return redirectTo(startPath, 'welcome')
    },
    refused: (context, error) => {
      const refusal = formRefusal(context, error, reusableToken(context, error))
      if (isSpent(error)) return context.show((frame) => passwordLinkPage(frame, refusal.state), refusal)
      return context.show((frame) => setupPage(frame, refusal.state, undefined), refusal)
    },
  },
  {
    path: '/setup/check',
    post: async ({ form, show }) => {
      const token = tokenFromLink(form('token'))
      const { expiresAt } = await signIn.links.check(token)
      return show((frame) => setupPage(frame, { ...emptyForm, values: { token } }, expiresAt))
    },
    refused: (context, error) => {
      const refusal = formRefusal(context, error)
      return context.show((frame) => passwordLinkPage(frame, refusal.state), refusal)
    },
  },
  {
    path: '/verify',
    get: async (context) => context.show((frame) => verifyEmailPage(frame, emptyForm)),
    post: async ({ form, visitor, viewer }) => {
      // The page is public, so the gate has not checked whether a second factor must be set up first.
      if (viewer && needsSecondFactor(viewer.account, requireSecondFactor))
        return redirectTo('/profile/two-factor')
      await verifyEmail(tokenFromLink(form('token')), viewer?.account.id, visitor)
      return redirectTo('/profile', 'email-verified')
    },
    refused: (context, error) => {
      if (error instanceof OwnerNeeded) return askOwner(context, error)
      const refusal = formRefusal(context, error, reusableToken(context, error))
      return context.show((frame) => verifyEmailPage(frame, refusal.state), refusal)
    },
  },
]

/** The link stays in the form, so that somebody who signs in meanwhile, in another tab, can send it again. */
function askOwner({ form, show, viewer }: PageContext, { account, email }: OwnerNeeded): PageResult {
  const state = { ...emptyForm, values: { token: tokenFromLink(form('token')) } }
  const view = { account, email, viewer: viewer?.account.email }
  return show((frame) => verifyEmailPage(frame, state, view), { status: 403, headers: {} })
}

/** @throws GatehouseError `request-invalid` if the two new passwords differ */
export function assertPasswordsMatch({ form, texts }: PageContext): void {
  if (form('password') !== form('again')) throw invalidField('again', texts.links.noMatch)
}

/** The token to keep in the form; an invalid one is cleared, so that another can be pasted. */
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
