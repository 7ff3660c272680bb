import { renderSVG } from 'uqr'
import type { NewSecondFactor, SecondFactorChoice } from '#identity/second-factor/second-factors.ts'
import { exactTime } from '#platform/pages/format.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { card, notice } from '#platform/pages/parts.ts'
import { recoveryCodesCount } from '#platform/secrets/one-time-codes.ts'
import type { Account } from '#store/account.ts'
import type { SecondFactor } from '#store/portal-access.ts'
import {
  actionRow,
  button,
  currentPasswordField,
  factRow,
  field,
  fieldError,
  form,
  formMessage,
  passkeyConfirmation,
} from './form.ts'
import { emptyForm, type FormState, type PageFrame } from './frame.ts'
import { page, signedOutPage } from './layout.ts'
import { codeBlock } from './parts.ts'
import { passkeyForm, passkeysCard, type RefusedPasskeyForm } from './passkey-forms.ts'
import { codeField, proofFields } from './proof-fields.ts'

export type SecondFactorForm = 'enable' | 'disable' | 'recovery-codes'

interface SecondFactorView {
  /** undefined = none yet. */
  readonly factor: SecondFactor | undefined
  /** What an app is set up with; undefined if there is one. */
  readonly proposed: NewSecondFactor | undefined
  /** Whether the account may do nothing else before it has one. */
  readonly isRequired: boolean
  /** New recovery codes, shown only now. */
  readonly codes?: readonly string[] | undefined
  /** The form that was refused. */
  readonly refused?: { readonly form: SecondFactorForm; readonly state: FormState } | undefined
  readonly refusedPasskey?: RefusedPasskeyForm | undefined
}

const title = 'Two-factor sign-in'

/** The second factor of one's own account. */
export function secondFactorPage(frame: PageFrame, view: SecondFactorView): Html {
  const { factor, proposed, codes, isRequired } = view
  return page(frame, {
    title,
    section: '/profile',
    body: html`${isRequired && !factor && notice('warn', 'Set up two-factor sign-in to continue: this gateway requires it.')}${codes && codesCard(frame, codes)}${factor && statusCard(factor)}${proposed && enableCard(frame, view, proposed)}${passkeysCard(frame, factor, view.refusedPasskey)}${factor && changeCards(frame, view, factor)}`,
  })
}

function codesCard(frame: PageFrame, codes: readonly string[]): Html {
  return card({
    title: 'Recovery codes',
    lead: 'Save these codes now: they are not shown again. Each one signs you in once without app or passkey.',
    body: codeBlock(frame, 'Recovery codes', codes.join('\n')),
  })
}

function enableCard(frame: PageFrame, view: SecondFactorView, { secret, uri }: NewSecondFactor): Html {
  const state = stateOf(view, 'enable')
  return card({
    title: 'Set up an authenticator app',
    lead: factorLead(view),
    body: html`<div class="enrol">${qrCode(uri, 'QR code for the authenticator app')}<p>Scan the picture with the app, or type this key into it: <code class="mono">${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p></div>${form(
      frame,
      {
        action: '/profile/two-factor',
        body: html`${formMessage(state, true)}<input type="hidden" name="secret" value="${secret}">${codeField(state, { idPrefix: 'enable-', label: 'Code from the app' })}${enableProof(frame, view, state)}<div>${button('Turn on')}</div>`,
      },
    )}`,
  })
}

function factorLead({ factor }: SecondFactorView): string {
  const lead = 'After your password, signing in then asks for a code that the app shows.'
  return factor ? `${lead} It brings new recovery codes: your earlier ones stop working.` : lead
}

/** Whoever has passkeys confirms with one: a code would be asked for twice. */
function enableProof(frame: PageFrame, { factor }: SecondFactorView, state: FormState): Html {
  const { passkeys } = frame
  if (!factor || !passkeys || passkeys.isConfirmed) return currentPasswordField(frame, state, 'enable-')
  const error = state.errors.password
  return html`${error !== undefined && fieldError('enable-password-error', error)}${passkeyConfirmation(frame, passkeys, frame.texts.form.firstByPasskey)}`
}

function statusCard({ enabledAt, recoveryDigests }: SecondFactor): Html {
  return card({
    title: 'Two-factor sign-in is on',
    body: html`<dl class="facts"><div><dt>Since</dt><dd>${exactTime(enabledAt)}</dd></div><div><dt>Recovery codes left</dt><dd>${recoveryDigests.length} of ${recoveryCodesCount}</dd></div></dl>`,
  })
}

function changeCards(frame: PageFrame, view: SecondFactorView, factor: SecondFactor): Html {
  const hasPasskeys = (factor.passkeys ?? []).length > 0
  return html`${proofForm(frame, view, factor, {
    name: 'recovery-codes',
    title: 'New recovery codes',
    lead: 'Your earlier codes stop working.',
    button: 'Replace recovery codes',
  })}${
    factor.sealed !== undefined &&
    proofForm(frame, view, factor, {
      name: 'disable',
      title: hasPasskeys ? 'Remove the app' : 'Turn off',
      lead: hasPasskeys
        ? 'After that, signing in with your password asks for a passkey or a recovery code.'
        : 'After that, your password alone signs you in.',
      button: hasPasskeys ? 'Remove authenticator app' : 'Turn off two-factor sign-in',
    })
  }`
}

interface ProofForm {
  readonly name: Exclude<SecondFactorForm, 'enable'>
  readonly title: string
  readonly lead: string
  readonly button: string
}

function proofForm(
  frame: PageFrame,
  view: SecondFactorView,
  factor: SecondFactor,
  { name, title, lead, button: text }: ProofForm,
): Html {
  const state = stateOf(view, name)
  return card({
    title,
    lead,
    body: form(frame, {
      action: `/profile/two-factor/${name}`,
      body: html`${formMessage(state, true)}${proofFields(frame, state, { idPrefix: `${name}-`, factor })}<div>${button(text)}</div>`,
    }),
  })
}

function stateOf({ refused }: SecondFactorView, name: SecondFactorForm): FormState {
  return refused?.form === name ? refused.state : emptyForm
}

/** The second factor of an account, for Admins. One's own is turned off with a code. */
export function secondFactorRow(frame: PageFrame, { id, portal }: Account, isOwn: boolean): Html | undefined {
  const { secondFactor } = portal
  if (secondFactor === undefined) return undefined
  const { sealed, passkeys = [] } = secondFactor
  const means = [
    ...(sealed === undefined ? [] : ['an authenticator app']),
    ...(passkeys.length === 0 ? [] : [passkeys.length === 1 ? 'a passkey' : `${passkeys.length} passkeys`]),
  ]
  if (isOwn)
    return factRow(
      'Two-factor sign-in',
      html`On: see your <a href="${frame.base}/profile/two-factor">profile</a>.`,
    )
  return actionRow(frame, {
    path: `/accounts/${id}/reset-second-factor`,
    text: `Two-factor sign-in is on: ${means.join(' and ')}`,
    hint: 'If the owner has lost them and the recovery codes, remove all. The password alone then signs them in.',
    button: 'Remove',
  })
}

/** The page that asks for a passkey or a code after the right password. */
export function signInCodePage(
  frame: PageFrame,
  state: FormState & SecondFactorChoice & { readonly next: string; readonly pending: string },
): Html {
  const { hasApp, hasPasskeys } = state
  const { passkeys } = frame
  const hidden = html`<input type="hidden" name="next" value="${state.next}"><input type="hidden" name="pending" value="${state.pending}">`
  const passkeyPart =
    passkeys &&
    hasPasskeys &&
    passkeyForm(frame, passkeys, {
      action: '/sign-in/code',
      options: '/sign-in/passkey/options',
      state: { ...state, message: undefined },
      body: hidden,
      text: 'Use a passkey',
      look: 'primary wide',
    })
  const body = html`<div class="card"><div class="body">${formMessage(state)}${passkeyPart}${form(frame, {
    action: '/sign-in/code',
    body: html`${hidden}
${field(state, {
  name: 'code',
  label: hasApp ? 'Code' : 'Recovery code',
  hint: hasApp
    ? 'The six digits that your authenticator app shows, or one of your recovery codes.'
    : 'One of the codes that you saved when you added your first passkey. Each works once.',
  autocomplete: 'one-time-code',
  isExact: true,
  hasFocus: !passkeyPart,
  lengthMax: 20,
  value: '',
})}
<button class="${passkeyPart ? '' : 'primary '}wide">Sign in</button>`,
  })}</div></div>
<p class="after">Lost ${hasPasskeys ? 'your passkeys' : 'your app'} and your recovery codes? An administrator can reset them. <a href="${frame.base}/sign-in">Start again</a></p>`
  return signedOutPage(frame, { title: hasPasskeys ? 'Confirm that it is you' : 'Enter the code', body })
}

/** A QR code as a picture, dark on light in both colour schemes, as cameras need it. */
function qrCode(text: string, description: string): Html {
  const svg = renderSVG(text, { ecc: 'M', border: 2 })
  const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
  return html`<img class="qr" src="${source}" alt="${description}" width="200" height="200">`
}
