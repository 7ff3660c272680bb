import { needsSecondFactor } from '#identity/second-factor/policy.ts'
import { asFieldError, confirmPassword, type FormRefusal, formRefusal } from './form-refusal.ts'
import { assertPasswordsMatch } from './link-pages.ts'
import type { SignedInContext } from './page-context.ts'
import type { CreatePages } from './portal-page.ts'
import { type PortalResponse, redirectTo } from './portal-response.ts'
import { type ProfileForm, profilePage } from './views/profile.ts'
import { type SecondFactorForm, secondFactorPage } from './views/second-factor.ts'

/** One's own name, e-mail and password. */
export const profilePages: CreatePages = (options) => {
  const { signIn, cookie } = options

  async function show(
    context: SignedInContext,
    refused?: { form: ProfileForm } & FormRefusal,
  ): Promise<PortalResponse> {
    const { account } = context.viewer
    const { canSend } = context.actions.profile
    const hasSecondFactor = account.portal.secondFactor !== undefined
    return context.show(
      (frame) => profilePage(frame, { account, canSend, hasSecondFactor, refused }),
      refused,
    )
  }

  async function saveName(context: SignedInContext): Promise<PortalResponse> {
    const { actions, viewer, form } = context
    const names = { firstName: form('firstName').trim(), lastName: form('lastName').trim() }
    try {
      await actions.profile.rename(viewer.account.id, names)
    } catch (error) {
      return show(context, { form: 'name', ...formRefusal(error, names) })
    }
    return redirectTo('/profile', 'name-saved')
  }

  async function changeEmail(context: SignedInContext): Promise<PortalResponse> {
    const { actions, viewer, form } = context
    const email = form('email').trim()
    try {
      await confirmPassword(context, options)
      await actions.profile.sendVerification(viewer.account.id, email)
    } catch (error) {
      return show(context, { form: 'email', ...formRefusal(error, { email }) })
    }
    return redirectTo('/profile', 'link-sent')
  }

  async function changePassword(context: SignedInContext): Promise<PortalResponse> {
    const { viewer, visitor, form, request } = context
    const change = { current: form('current'), password: form('password') }
    try {
      assertPasswordsMatch(context)
      cookie.set(request, await signIn.changePassword(viewer, change, visitor))
    } catch (error) {
      const refusal = formRefusal(asFieldError(error, 'current', 'The current password is wrong.'), {})
      return show(context, { form: 'password', ...refusal })
    }
    return redirectTo('/profile', 'password-changed')
  }

  return [
    { path: '/profile', get: (context) => show(context) },
    { path: '/profile/name', post: saveName },
    { path: '/profile/email', post: changeEmail },
    { path: '/profile/password', post: changePassword },
  ]
}

/** The second factor of one's own account. */
export const secondFactorPages: CreatePages = (options) => {
  const { signIn, cookie, requireSecondFactor } = options
  const { factors } = signIn

  async function show(
    context: SignedInContext,
    refused?: { form: SecondFactorForm } & FormRefusal,
  ): Promise<PortalResponse> {
    const { account } = context.viewer
    const factor = account.portal.secondFactor
    // What was scanned stays what the code is for.
    const proposed = factor ? undefined : factors.propose(account, context.form('secret'))
    const isRequired = needsSecondFactor(account, requireSecondFactor)
    return context.show(
      (frame) => secondFactorPage(frame, { factor, proposed, isRequired, refused }),
      refused,
    )
  }

  /** Every change asks for password and code: somebody else may be at the keyboard. */
  function change(name: SecondFactorForm, work: (context: SignedInContext) => Promise<PortalResponse>) {
    return async (context: SignedInContext): Promise<PortalResponse> => {
      try {
        await confirmPassword(context, options)
        return await work(context)
      } catch (error) {
        return show(context, { form: name, ...formRefusal(error, {}) })
      }
    }
  }

  function givenIn({ form, visitor, viewer }: SignedInContext) {
    return { code: form('code'), visitor, client: viewer.session.id }
  }

  /** Recovery codes are shown in the answer itself: they are stored nowhere. */
  async function showCodes(context: SignedInContext, codes: readonly string[]): Promise<PortalResponse> {
    const account = await context.actions.accounts.find(context.viewer.account.id)
    const factor = account.portal.secondFactor
    return context.show((frame) =>
      secondFactorPage(frame, { factor, proposed: undefined, isRequired: false, codes }),
    )
  }

  return [
    {
      path: '/profile/two-factor',
      get: (context) => show(context),
      post: change('enable', async (context) => {
        const given = { ...givenIn(context), secret: context.form('secret') }
        const { viewer, visitor, request } = context
        const codes = await factors.enable(viewer.account, given)
        const account = await context.actions.accounts.find(viewer.account.id)
        // They were held back if it was required.
        const tokens = await signIn.renewTokens({ ...viewer, account }, visitor)
        if (tokens) cookie.setTokens(request, tokens)
        return showCodes(context, codes)
      }),
    },
    {
      path: '/profile/two-factor/recovery-codes',
      post: change('recovery-codes', async (context) =>
        showCodes(context, await factors.renewRecoveryCodes(context.viewer.account, givenIn(context))),
      ),
    },
    {
      path: '/profile/two-factor/disable',
      post: change('disable', async (context) => {
        await factors.disable(context.viewer.account, givenIn(context))
        return redirectTo('/profile/two-factor', 'second-factor-off')
      }),
    },
  ]
}
