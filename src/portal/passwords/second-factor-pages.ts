import { needsSecondFactor } from '#identity/second-factor/policy.ts'
import { confirmPassword, type FormRefusal, formRefusal } from '../form-refusal.ts'
import type { SignedInContext } from '../page-context.ts'
import type { CreatePages } from '../portal-page.ts'
import { type PortalResponse, redirectTo } from '../portal-response.ts'
import { type SecondFactorForm, secondFactorPage } from '../views/second-factor.ts'

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
