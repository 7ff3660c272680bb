import { byPasskey, needsSecondFactor } from '#identity/second-factor/second-factors.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { passkeysOf } from '#store/portal-access.ts'
import { type FormRefusal, formRefusal } from '../forms/refusal.ts'
import type { PortalOptions, SignedInContext } from '../page-context.ts'
import type { CreatePages } from '../portal-page.ts'
import { type PageResult, redirectTo } from '../portal-response.ts'
import type { RefusedPasskeyForm } from '../views/passkey-forms.ts'
import { type SecondFactorForm, secondFactorPage } from '../views/second-factor.ts'

/** Every change asks for password and second factor, as somebody else may be at the keyboard. */
export const secondFactorPages: CreatePages = (options) => {
  const { factors } = options.signIn
  const { show, showCodes, proofIn } = createSecondFactorParts(options)

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
  ]
}

/** What the page *Two-factor sign-in* shows, and how it proves who sends its forms. */
export function createSecondFactorParts({ signIn, cookie, passkeys, requireSecondFactor }: PortalOptions) {
  async function show(
    context: SignedInContext,
    refused?: { readonly form: SecondFactorForm } & FormRefusal,
    refusedPasskey?: RefusedPasskeyForm & FormRefusal,
  ): Promise<PageResult> {
    const { account } = context.viewer
    const factor = account.portal.secondFactor
    // Keeps the secret that was scanned, as the code belongs to it.
    const proposed =
      factor?.sealed === undefined ? signIn.factors.propose(account, context.form('secret')) : undefined
    const isRequired = needsSecondFactor(account, requireSecondFactor)
    return context.show(
      (frame) => secondFactorPage(frame, { factor, proposed, isRequired, refused, refusedPasskey }),
      refused ?? refusedPasskey,
    )
  }

  /** After a first factor: recovery codes are shown in the response itself, as they are not stored. */
  async function showCodes(context: SignedInContext, codes: readonly string[]): Promise<PageResult> {
    const { viewer, visitor, request } = context
    const account = await context.actions.accounts.find(viewer.account.id)
    // Tokens were held back if a factor was required.
    const tokens = await signIn.renewTokens({ ...viewer, account }, visitor)
    if (tokens) cookie.setTokens(request, tokens)
    const factor = account.portal.secondFactor
    return context.show((frame) =>
      secondFactorPage(frame, { factor, proposed: undefined, isRequired: false, codes }),
    )
  }

  /** The proof of the second factor in a form: its code, unless the viewer has just used a passkey. */
  function proofIn({ request, viewer, visitor, form }: SignedInContext): {
    readonly code: string | typeof byPasskey
    readonly visitor: SignedInContext['visitor']
    readonly client: string
  } {
    const code = passkeys?.isConfirmed(request, viewer) ? byPasskey : form('code')
    return { code, visitor, client: viewer.session.id }
  }

  return { show, showCodes, proofIn }
}
