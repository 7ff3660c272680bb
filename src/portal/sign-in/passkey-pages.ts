import type { PasskeyFlow, PasskeyGiven } from '#identity/second-factor/passkey-check.ts'
import { needsSecondFactor } from '#identity/second-factor/second-factors.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/accounts.ts'
import { passkeysOf } from '#store/portal-access.ts'
import { csrfField } from '../forms/csrf.ts'
import { formRefusal } from '../forms/refusal.ts'
import type { PageContext, PortalOptions, SignedInContext } from '../page-context.ts'
import { type CreatePages, type PortalPage, queryOf } from '../portal-page.ts'
import type { PortalPasskeys } from '../portal-passkeys.ts'
import { redirectTo, safeRedirectPath } from '../portal-response.ts'
import { confirmByPasskeyPath, startPath } from '../sign-in-paths.ts'
import { emptyForm, type FormState } from '../views/frame.ts'
import { confirmByPasskeyPage, type PasskeyFormName } from '../views/passkey-forms.ts'
import { createSecondFactorParts } from './second-factor-pages.ts'

/** Largest form with the answer of a passkey, in bytes. */
export const passkeyFormBytesMax = 16_384

/** Pages to add, rename and remove one's own passkeys, and to confirm with one; none if there are no passkeys. */
export const passkeyPages: CreatePages = (options) => {
  const { passkeys } = options
  return passkeys ? [...ownPasskeyPages(passkeys, options), ...confirmationPages(passkeys)] : []
}

function ownPasskeyPages(passkeys: PortalPasskeys, options: PortalOptions): readonly PortalPage[] {
  const { signIn, requireSecondFactor } = options
  const { show, showCodes, proofIn } = createSecondFactorParts(options)

  /** @throws GatehouseError as `factors.check` */
  async function assertSecondFactor(context: SignedInContext): Promise<void> {
    const { account } = context.viewer
    if (account.portal.secondFactor) await signIn.factors.check(account, proofIn(context))
  }

  const refuse = (form: PasskeyFormName, fields: readonly string[]) => {
    return (context: SignedInContext, error: unknown) => {
      const values = Object.fromEntries(fields.map((name) => [name, context.form(name).trim()]))
      return show(context, undefined, {
        form,
        id: context.form('id'),
        ...formRefusal(context, error, values),
      })
    }
  }

  return [
    {
      path: '/profile/two-factor/passkeys/options',
      asksPassword: true,
      // The challenge stands for password and second factor, so that nothing is left on a device that is not added.
      post: async (context) => {
        const { account } = context.viewer
        if (account.portal.password === undefined)
          throw invalidField('password', context.texts.passkeys.passwordFirst)
        await assertSecondFactor(context)
        return { kind: 'data', data: passkeys.creationOptions(account, flowOf('add', context, account)) }
      },
    },
    {
      path: '/profile/two-factor/passkeys/add',
      bytesMax: passkeyFormBytesMax,
      post: async (context) => {
        const { account } = context.viewer
        const name = context.form('name').trim()
        const codes = await passkeys.add(account, { ...givenIn('add', context, account), name })
        return codes ? showCodes(context, codes) : redirectTo('/profile/two-factor', 'passkey-added')
      },
      refused: refuse('add', ['name']),
    },
    {
      path: '/profile/two-factor/passkeys/rename',
      post: async ({ viewer, visitor, form }) => {
        const change = { id: form('id'), to: form('to').trim() }
        const isRenamed = await passkeys.rename(viewer.account, change, visitor)
        return redirectTo('/profile/two-factor', isRenamed ? 'passkey-renamed' : 'passkey-gone')
      },
      refused: refuse('rename', ['to']),
    },
    {
      path: '/profile/two-factor/passkeys/remove',
      asksPassword: true,
      post: async (context) => {
        const { viewer, visitor, form } = context
        const { account } = viewer
        const id = form('id')
        if (needsSecondFactor(withoutFactor(account), requireSecondFactor) && isLastFactor(account, id))
          throw invalidField('id', context.texts.passkeys.lastFactor)
        await assertSecondFactor(context)
        const isRemoved = await passkeys.remove(account, id, visitor)
        return redirectTo('/profile/two-factor', isRemoved ? 'passkey-removed' : 'passkey-gone')
      },
      refused: refuse('remove', []),
    },
  ]
}

function withoutFactor(account: Account): Account {
  return { ...account, portal: { ...account.portal, secondFactor: undefined } }
}

function isLastFactor({ portal }: Account, id: string): boolean {
  return portal.secondFactor?.sealed === undefined && passkeysOf(portal).every((passkey) => passkey.id === id)
}

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
      path: confirmByPasskeyPath,
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

/** Bound to the browser by the token of its form, which has been checked. */
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
