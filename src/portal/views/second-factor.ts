import { renderSVG } from 'uqr'
import type { NewSecondFactor } from '#identity/second-factor/second-factors.ts'
import { exactTime } from '#platform/pages/format.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { card, notice } from '#platform/pages/parts.ts'
import { recoveryCodesCount } from '#platform/secrets/one-time-codes.ts'
import type { Account } from '#store/account.ts'
import type { SecondFactor } from '#store/portal-access.ts'
import { actionRow, button, currentPasswordField, factRow, field, form, formMessage } from './form.ts'
import { emptyForm, type FormState, type PageFrame } from './frame.ts'
import { page, signedOutPage } from './layout.ts'
import { codeBlock } from './parts.ts'

export type SecondFactorForm = 'enable' | 'disable' | 'recovery-codes'

interface SecondFactorView {
  /** undefined = none yet. */
  readonly factor: SecondFactor | undefined
  /** What the app is set up with; undefined if there is a factor. */
  readonly proposed: NewSecondFactor | undefined
  /** Whether the account may do nothing else before it has one. */
  readonly isRequired: boolean
  /** New recovery codes, shown only now. */
  readonly codes?: readonly string[] | undefined
  /** The form that was refused. */
  readonly refused?: { readonly form: SecondFactorForm; readonly state: FormState } | undefined
}

const title = 'Two-factor sign-in'

/** The second factor of one's own account. */
export function secondFactorPage(frame: PageFrame, view: SecondFactorView): Html {
  const { factor, proposed, codes, isRequired } = view
  return page(frame, {
    title,
    section: '/profile',
    body: html`${isRequired && !factor && notice('warn', 'Set up two-factor sign-in to continue: this gateway requires it.')}${codes && codesCard(codes)}${proposed && enableCard(frame, view, proposed)}${factor && enabledCards(frame, view, factor)}`,
  })
}

function codesCard(codes: readonly string[]): Html {
  return card({
    title: 'Recovery codes',
    lead: 'Save these codes now: they are not shown again. Each one signs you in once without the app.',
    body: codeBlock('Recovery codes', codes.join('\n')),
  })
}

function enableCard(frame: PageFrame, view: SecondFactorView, { secret, uri }: NewSecondFactor): Html {
  const state = stateOf(view, 'enable')
  return card({
    title: 'Set up an authenticator app',
    lead: 'After your password, signing in then asks for a code that the app shows.',
    body: html`<div class="enrol">${qrCode(uri, 'QR code for the authenticator app')}<p>Scan the picture with the app, or type this key into it: <code class="mono">${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p></div>${form(
      frame,
      {
        action: '/profile/two-factor',
        body: html`${formMessage(state, true)}<input type="hidden" name="secret" value="${secret}">${codeField(state, 'enable-', 'Code from the app')}${currentPasswordField(frame, state, 'enable-')}<div>${button('Turn on')}</div>`,
      },
    )}`,
  })
}

function enabledCards(frame: PageFrame, view: SecondFactorView, factor: SecondFactor): Html {
  const left = factor.recoveryDigests.length
  return html`${card({
    title: 'Two-factor sign-in is on',
    body: html`<dl class="facts"><div><dt>Since</dt><dd>${exactTime(factor.enabledAt)}</dd></div><div><dt>Recovery codes left</dt><dd>${left} of ${recoveryCodesCount}</dd></div></dl>`,
  })}${codeForm(frame, view, {
    name: 'recovery-codes',
    title: 'New recovery codes',
    lead: 'Your earlier codes stop working.',
    button: 'Replace recovery codes',
  })}${codeForm(frame, view, {
    name: 'disable',
    title: 'Turn off',
    lead: 'After that, your password alone signs you in.',
    button: 'Turn off two-factor sign-in',
  })}`
}

interface CodeForm {
  readonly name: Exclude<SecondFactorForm, 'enable'>
  readonly title: string
  readonly lead: string
  readonly button: string
}

function codeForm(
  frame: PageFrame,
  view: SecondFactorView,
  { name, title, lead, button: text }: CodeForm,
): Html {
  const state = stateOf(view, name)
  return card({
    title,
    lead,
    body: form(frame, {
      action: `/profile/two-factor/${name}`,
      body: html`${formMessage(state, true)}${codeField(state, `${name}-`, 'Code from the app, or a recovery code')}${currentPasswordField(frame, state, `${name}-`)}<div>${button(text)}</div>`,
    }),
  })
}

function codeField(state: FormState, idPrefix: string, label: string): Html {
  return field(state, {
    name: 'code',
    label,
    autocomplete: 'one-time-code',
    isExact: true,
    lengthMax: 20,
    value: '',
    idPrefix,
  })
}

function stateOf({ refused }: SecondFactorView, name: SecondFactorForm): FormState {
  return refused?.form === name ? refused.state : emptyForm
}

/** The second factor of an account, for Admins. One's own is turned off with a code. */
export function secondFactorRow(frame: PageFrame, { id, portal }: Account, isOwn: boolean): Html | undefined {
  if (portal.secondFactor === undefined) return undefined
  if (isOwn)
    return factRow(
      'Two-factor sign-in',
      html`On: see your <a href="${frame.base}/profile/two-factor">profile</a>.`,
    )
  return actionRow(frame, {
    path: `/accounts/${id}/reset-second-factor`,
    text: 'Two-factor sign-in is on',
    hint: 'If the owner has lost the app and the recovery codes, remove it. The password alone then signs them in.',
    button: 'Remove',
  })
}

/** The page that asks for the code after the right password. */
export function signInCodePage(
  frame: PageFrame,
  state: FormState & { readonly next: string; readonly pending: string },
): Html {
  const body = html`<div class="card"><div class="body">${formMessage(state)}${form(frame, {
    action: '/sign-in/code',
    body: html`<input type="hidden" name="next" value="${state.next}"><input type="hidden" name="pending" value="${state.pending}">
${field(state, {
  name: 'code',
  label: 'Code',
  hint: 'The six digits that your authenticator app shows, or one of your recovery codes.',
  autocomplete: 'one-time-code',
  isExact: true,
  hasFocus: true,
  lengthMax: 20,
  value: '',
})}
<button class="primary wide">Sign in</button>`,
  })}</div></div>
<p class="after">Lost your app and your recovery codes? An administrator can reset them. <a href="${frame.base}/sign-in">Start again</a></p>`
  return signedOutPage(frame, { title: 'Enter the code', body })
}

/** A QR code as a picture, dark on light in both colour schemes, as cameras need it. */
function qrCode(text: string, description: string): Html {
  const svg = renderSVG(text, { ecc: 'M', border: 2 })
  const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
  return html`<img class="qr" src="${source}" alt="${description}" width="200" height="200">`
}
