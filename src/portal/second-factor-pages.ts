import { byPasskey, needsSecondFactor } from '#identity/second-factor/second-factors.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/accounts.ts'
import { passkeysOf } from '#store/portal-access.ts'
import { type FormRefusal, formRefusal } from './forms/refusal.ts'
import type { PortalOptions, SignedInContext } from './page-context.ts'
import type { CreatePages, PortalPage } from './portal-page.ts'
import type { PortalPasskeys } from './portal-passkeys.ts'
import { type PageResult, redirectTo } from './portal-response.ts'
import { flowOf, givenIn, passkeyFormBytesMax } from './sign-in/passkey-pages.ts'
import type { PasskeyFormName, RefusedPasskeyForm } from './views/passkey-forms.ts'
import { type SecondFactorForm, secondFactorPage } from './views/second-factor.ts'

/**
 * The page *Two-factor sign-in*: codes of an app, recovery codes, and one's own passkeys if the portal has passkeys.
 * Every change asks for password and second factor, as somebody else may be at the keyboard.
 */
export const secondFactorPages: CreatePages = (options) => {
  const { passkeys } = options
  const parts = createSecondFactorParts(options)
  return [...codePages(options, parts), ...(passkeys ? ownPasskeyPages(passkeys, options, parts) : [])]
}

type SecondFactorParts = ReturnType<typeof createSecondFactorParts>

function codePages(
  { signIn: { factors } }: PortalOptions,
  { show, showCodes, proofIn }: SecondFactorParts,
): readonly PortalPage[] {
  const refuse = (form: SecondFactorForm) => (context: SignedInContext, error: unknown) =>
    show(context, { form, ...formRefusal(context, error) })

  return [
    {
      path: '/profile/two-factor',
      get: (context) => show(context),
      asksPassword: true,
      post: async (context) => {
        const { viewer, form } = context
        // The code in this form is one of the new app, so it cannot prove an earlier factor: only a passkey can.
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

/** Pages to add, rename and remove one's own passkeys. */
function ownPasskeyPages(
  passkeys: PortalPasskeys,
  { signIn, requireSecondFactor }: PortalOptions,
  { show, showCodes, proofIn }: SecondFactorParts,
): readonly PortalPage[] {
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
      // Password and second factor are checked here, before the device makes a passkey, and the challenge proves both
      // when it is added. If they were checked only then, a refused passkey would stay on the device.
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
        const without = { ...account, portal: { ...account.portal, secondFactor: undefined } }
        if (needsSecondFactor(without, requireSecondFactor) && isLastFactor(account, id))
          throw invalidField('id', context.texts.passkeys.lastFactor)
        await assertSecondFactor(context)
        const isRemoved = await passkeys.remove(account, id, visitor)
        return redirectTo('/profile/two-factor', isRemoved ? 'passkey-removed' : 'passkey-gone')
      },
      refused: refuse('remove', []),
    },
  ]
}

function isLastFactor({ portal }: Account, id: string): boolean {
  return portal.secondFactor?.sealed === undefined && passkeysOf(portal).every((passkey) => passkey.id === id)
}

/** What the page *Two-factor sign-in* shows, and how it proves who sends its forms. */
function createSecondFactorParts({ signIn, cookies, passkeys, requireSecondFactor }: PortalOptions) {
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

  /** Shows new recovery codes: in the response itself, as they are not stored. */
  async function showCodes(context: SignedInContext, codes: readonly string[]): Promise<PageResult> {
    const { viewer, visitor, request } = context
    const account = await context.actions.accounts.get(viewer.account.id)
    // If a second factor is required, the browser got no tokens before the account had one.
    const tokens = await signIn.renewTokens({ ...viewer, account }, visitor)
    if (tokens) cookies.setTokens(request, tokens)
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
