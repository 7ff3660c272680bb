import { byPasskey } from '#identity/second-factor/second-factors.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { passkeysOf } from '#store/portal-access.ts'
import { formRefusal } from '../forms/refusal.ts'
import type { SignedInContext } from '../page-context.ts'
import type { CreatePages } from '../portal-page.ts'
import { redirectTo } from '../portal-response.ts'
import type { SecondFactorForm } from '../views/second-factor.ts'
import { passkeyPages } from './passkey-pages.ts'
import { createSecondFactorParts } from './second-factor-parts.ts'

/** Every change asks for password and second factor, as somebody else may be at the keyboard. */
export const secondFactorPages: CreatePages = (options) => {
  const { factors } = options.signIn
  const parts = createSecondFactorParts(options)
  const { show, showCodes, proofIn } = parts

  const refuse = (form: SecondFactorForm) => (context: SignedInContext, error: unknown) =>
    show(context, { form, ...formRefusal(context, error) })

  return [
    {
      path: '/profile/two-factor',
      get: (context) => show(context),
      asksPassword: true,
      post: async (context) => {
        const { viewer, form } = context
        // The form has the code of the new app, and so none of what is there already.
        if (passkeysOf(viewer.account.portal).length > 0 && proofIn(context).code !== byPasskey)
          throw invalidField('password', context.texts.secondFactor.passkeyFirst)
        const given = { ...proofIn(context), code: form('code'), secret: form('secret') }
        return showCodes(context, await factors.enable(viewer.account, given))
      },
      refused: refuse('enable'),
    },
    {
      path: '/profile/two-factor/recovery-codes',
      asksPassword: true,
      post: async (context) =>
        showCodes(context, await factors.renewRecoveryCodes(context.viewer.account, proofIn(context))),
      refused: refuse('recovery-codes'),
    },
    {
      path: '/profile/two-factor/disable',
      asksPassword: true,
      post: async (context) => {
        const { account } = context.viewer
        await factors.disable(account, proofIn(context))
        const isOn = passkeysOf(account.portal).length > 0
        return redirectTo('/profile/two-factor', isOn ? 'app-removed' : 'second-factor-off')
      },
      refused: refuse('disable'),
    },
    ...passkeyPages(options, parts),
  ]
}
