import { byPasskey, needsSecondFactor } from '#identity/second-factor/second-factors.ts'
import type { FormRefusal } from '../forms/refusal.ts'
import type { PortalOptions, SignedInContext } from '../page-context.ts'
import type { PageResult } from '../portal-response.ts'
import type { RefusedPasskeyForm } from '../views/passkey-forms.ts'
import { type SecondFactorForm, secondFactorPage } from '../views/second-factor.ts'

/** What the page *Two-factor sign-in* shows, and how it proves who sends its forms. */
export interface SecondFactorParts {
  show(
    context: SignedInContext,
    refused?: { readonly form: SecondFactorForm } & FormRefusal,
    refusedPasskey?: RefusedPasskeyForm & FormRefusal,
  ): Promise<PageResult>
  /** After a first factor: recovery codes are shown in the response itself, as they are not stored. */
  showCodes(context: SignedInContext, codes: readonly string[]): Promise<PageResult>
  /** The proof of the second factor in a form: its code, unless the viewer has just used a passkey. */
  proofIn(context: SignedInContext): {
    readonly code: string | typeof byPasskey
    readonly visitor: SignedInContext['visitor']
    readonly client: string
  }
}

export function createSecondFactorParts({
  signIn,
  cookie,
  passkeys,
  requireSecondFactor,
}: PortalOptions): SecondFactorParts {
  return {
    show: async (context, refused, refusedPasskey) => {
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
    },
    showCodes: async (context, codes) => {
      const { viewer, visitor, request } = context
      const account = await context.actions.accounts.find(viewer.account.id)
      // Tokens were held back if a factor was required.
      const tokens = await signIn.renewTokens({ ...viewer, account }, visitor)
      if (tokens) cookie.setTokens(request, tokens)
      const factor = account.portal.secondFactor
      return context.show((frame) =>
        secondFactorPage(frame, { factor, proposed: undefined, isRequired: false, codes }),
      )
    },
    proofIn: ({ request, viewer, visitor, form }) => ({
      code: passkeys?.isConfirmed(request, viewer) ? byPasskey : form('code'),
      visitor,
      client: viewer.session.id,
    }),
  }
}
