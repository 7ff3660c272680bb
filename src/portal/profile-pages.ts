import { needsSecondFactor } from '#identity/second-factor/policy.ts'
import type { Form } from './form-body.ts'
import { asFieldError, type FormRefusal, formRefusal } from './form-refusal.ts'
import { assertPasswordsMatch } from './link-pages.ts'
import type { PortalOptions, SignedInContext } from './page-context.ts'
import type { CreatePages, PortalPage } from './portal-page.ts'
import { type PageResult, redirectTo } from './portal-response.ts'
import { type ProfileForm, profilePage } from './views/profile-page.ts'
import { type SecondFactorForm, secondFactorPage } from './views/second-factor.ts'

/** One's own name, e-mail, password and second factor. */
export const profilePages: CreatePages = (options) => [
  { path: '/profile', get: (context) => showProfile(context) },
  {
    path: '/profile/name',
    post: async ({ actions, viewer, form }) => {
      await actions.profile.rename(viewer.account.id, namesOf(form))
      return redirectTo('/profile', 'name-saved')
    },
    refused: (context, error) =>
      showProfile(context, { form: 'name', ...formRefusal(error, namesOf(context.form)) }),
  },
  {
    path: '/profile/email',
    asksPassword: true,
    post: async ({ actions, viewer, form }) => {
      await actions.profile.sendVerification(viewer.account.id, form('email').trim())
      return redirectTo('/profile', 'link-sent')
    },
    refused: (context, error) =>
      showProfile(context, { form: 'email', ...formRefusal(error, { email: context.form('email').trim() }) }),
  },
  {
    path: '/profile/password',
    post: async (context) => {
      const { viewer, visitor, form, request } = context
      assertPasswordsMatch(context)
      const change = { current: form('current'), password: form('password') }
      options.cookie.set(request, await options.signIn.changePassword(viewer, change, visitor))
      return redirectTo('/profile', 'password-changed')
    },
    refused: (context, error) => {
      const fieldError = asFieldError(error, 'current', 'The current password is wrong.')
      return showProfile(context, { form: 'password', ...formRefusal(fieldError, {}) })
    },
  },
  ...secondFactorPages(options),
]

async function showProfile(
  context: SignedInContext,
  refused?: { form: ProfileForm } & FormRefusal,
): Promise<PageResult> {
  const { account } = context.viewer
  const { canSend } = context.actions.profile
  const hasSecondFactor = account.portal.secondFactor !== undefined
  return context.show((frame) => profilePage(frame, { account, canSend, hasSecondFactor, refused }), refused)
}

function namesOf(form: Form) {
  return { firstName: form('firstName').trim(), lastName: form('lastName').trim() }
}

/** Every change asks for password and code, as somebody else may be at the keyboard. */
function secondFactorPages({ signIn, cookie, requireSecondFactor }: PortalOptions): readonly PortalPage[] {
  const { factors } = signIn

  async function show(
    context: SignedInContext,
    refused?: { form: SecondFactorForm } & FormRefusal,
  ): Promise<PageResult> {
    const { account } = context.viewer
    const factor = account.portal.secondFactor
    // Keeps the secret that was scanned, as the code belongs to it.
    const proposed = factor ? undefined : factors.propose(account, context.form('secret'))
    const isRequired = needsSecondFactor(account, requireSecondFactor)
    return context.show(
      (frame) => secondFactorPage(frame, { factor, proposed, isRequired, refused }),
      refused,
    )
  }

  const refuse = (form: SecondFactorForm) => (context: SignedInContext, error: unknown) =>
    show(context, { form, ...formRefusal(error, {}) })

  function givenIn({ form, visitor, viewer }: SignedInContext) {
    return { code: form('code'), visitor, client: viewer.session.id }
  }

  /** Recovery codes are shown in the response itself, as they are not stored. */
  async function showCodes(context: SignedInContext, codes: readonly string[]): Promise<PageResult> {
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
      asksPassword: true,
      post: async (context) => {
        const given = { ...givenIn(context), secret: context.form('secret') }
        const { viewer, visitor, request } = context
        const codes = await factors.enable(viewer.account, given)
        const account = await context.actions.accounts.find(viewer.account.id)
        // Tokens were held back if a factor was required.
        const tokens = await signIn.renewTokens({ ...viewer, account }, visitor)
        if (tokens) cookie.setTokens(request, tokens)
        return showCodes(context, codes)
      },
      refused: refuse('enable'),
    },
    {
      path: '/profile/two-factor/recovery-codes',
      asksPassword: true,
      post: async (context) =>
        showCodes(context, await factors.renewRecoveryCodes(context.viewer.account, givenIn(context))),
      refused: refuse('recovery-codes'),
    },
    {
      path: '/profile/two-factor/disable',
      asksPassword: true,
      post: async (context) => {
        await factors.disable(context.viewer.account, givenIn(context))
        return redirectTo('/profile/two-factor', 'second-factor-off')
      },
      refused: refuse('disable'),
    },
  ]
}
