import type { PasskeyFlow, PasskeyGiven } from '#identity/second-factor/passkey-check.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/accounts.ts'
import { formRefusal } from '../forms/refusal.ts'
import { startPath } from '../page-access.ts'
import type { PageContext, SignedInContext } from '../page-context.ts'
import { type CreatePages, type PortalPage, queryOf } from '../portal-page.ts'
import type { PortalPasskeys } from '../portal-passkeys.ts'
import { redirectTo, safeRedirectPath } from '../portal-response.ts'
import { csrfField } from '../views/form.ts'
import { emptyForm, type FormState } from '../views/frame.ts'
import { confirmByPasskeyPage } from '../views/passkey-forms.ts'

/** Largest form with the answer of a passkey, in bytes. */
export const passkeyFormBytesMax = 16_384

/** Pages to confirm with a passkey instead of password and code; none if there are no passkeys. */
export const confirmByPasskeyPages: CreatePages = ({ passkeys }) =>
  passkeys ? confirmationPages(passkeys) : []

function confirmationPages(passkeys: PortalPasskeys): readonly PortalPage[] {
  function showForm(context: SignedInContext, next: string, refusal?: ReturnType<typeof formRefusal>) {
    const state: FormState = refusal?.state ?? emptyForm
    return context.show(
      (frame) => confirmByPasskeyPage(frame, { ...state, next: safeRedirectPath(next) }),
      refusal,
    )
  }

  return [
    {
      path: '/confirm/passkey',
      bytesMax: passkeyFormBytesMax,
      get: async (context) => showForm(context, queryOf(context)('next')),
      post: async (context) => {
        const { viewer, request, form } = context
        const given = givenIn('confirm', context, viewer.account)
        await passkeys.check(viewer.account, { ...given, client: viewer.session.id })
        passkeys.confirm(request, viewer)
        return redirectTo(safeRedirectPath(form('next')) || startPath)
      },
      refused: (context, error) => showForm(context, context.form('next'), formRefusal(context, error)),
    },
    {
      path: '/confirm/passkey/options',
      post: async (context) => {
        const { account } = context.viewer
        const data = passkeys.requestOptions(flowOf('confirm', context, account), account)
        return { kind: 'data', data }
      },
    },
  ]
}

/** A flow that is bound to the browser by the CSRF token of its form, which has been checked. */
export function flowOf(
  purpose: PasskeyFlow['purpose'],
  { form }: Pick<PageContext, 'form'>,
  account: Pick<Account, 'id'> | undefined,
): PasskeyFlow {
  return { purpose, browser: form(csrfField), accountId: account?.id }
}

/** @throws GatehouseError `request-invalid` (field `credential`) if there is none */
export function givenIn(
  purpose: PasskeyFlow['purpose'],
  context: Pick<PageContext, 'form' | 'texts' | 'visitor'>,
  account: Pick<Account, 'id'> | undefined,
): PasskeyGiven {
  const credential = context.form('credential')
  if (credential === '') throw invalidField('credential', context.texts.passkeys.needBrowser)
  return { credential, flow: flowOf(purpose, context, account), visitor: context.visitor }
}
