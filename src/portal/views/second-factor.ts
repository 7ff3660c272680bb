import { renderSVG } from 'uqr'
import type { NewSecondFactor, SecondFactorChoice } from '#identity/second-factor/second-factors.ts'
import { exactTime } from '#platform/pages/format.ts'
import { card, type Html, html, notice } from '#platform/pages/html.ts'
import { recoveryCodesCount } from '#platform/secrets/one-time-codes.ts'
import type { Account } from '#store/accounts.ts'
import type { SecondFactor } from '#store/portal-access.ts'
import { actionRow, button, factRow, fieldError, form, formMessage, hidden } from './form.ts'
import { type FormState, type PageFrame, type RefusedForm, stateOf } from './frame.ts'
import { page, signedOutPage } from './layout.ts'
import { codeBlock } from './parts.ts'
import { passkeyForm, passkeysCard, type RefusedPasskeyForm } from './passkey-forms.ts'
import { codeField, currentPasswordField, passkeyConfirmation, proofFields } from './proof-fields.ts'

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
  readonly refused?: RefusedForm<SecondFactorForm> | undefined
  readonly refusedPasskey?: RefusedPasskeyForm | undefined
}

/** The second factor of one's own account. */
export function secondFactorPage(frame: PageFrame, view: SecondFactorView): Html {
  const { factor, proposed, codes, isRequired } = view
  const texts = frame.texts.secondFactor
  return page(frame, {
    title: texts.title,
    section: '/profile',
    body: html`${isRequired && !factor && notice('warn', texts.required)}${codes && codesCard(frame, codes)}${factor && statusCard(frame, factor)}${proposed && enableCard(frame, view, proposed)}${passkeysCard(frame, factor, view.refusedPasskey)}${factor && changeCards(frame, view, factor)}`,
  })
}

function codesCard(frame: PageFrame, codes: readonly string[]): Html {
  const { secondFactor } = frame.texts
  const title = secondFactor.recoveryCodes
  return card({
    title,
    lead: secondFactor.recoveryCodesLead,
    body: codeBlock(frame, title, codes.join('\n')),
  })
}

function enableCard(frame: PageFrame, view: SecondFactorView, { secret, uri }: NewSecondFactor): Html {
  const state = stateOf(view.refused, 'enable')
  const texts = frame.texts.secondFactor.setUp
  return card({
    title: texts.title,
    lead: view.factor ? texts.leadWithCodes : texts.lead,
    body: html`<div class="enrol">${qrCode(uri, texts.qrCode)}<p>${texts.scan} <code class="mono">${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p></div>${form(
      frame,
      {
        action: '/profile/two-factor',
        body: html`${formMessage(state, true)}${hidden({ secret })}${codeField(state, { idPrefix: 'enable-', label: texts.code })}${enableProof(frame, view, state)}<div>${button(texts.submit)}</div>`,
      },
    )}`,
  })
}

/** Owners of passkeys confirm with one: otherwise the form would ask for two different codes. */
function enableProof(frame: PageFrame, { factor }: SecondFactorView, state: FormState): Html {
  const { passkeys } = frame
  if (!factor || !passkeys || passkeys.isConfirmed) return currentPasswordField(frame, state, 'enable-')
  const error = state.errors.password
  return html`${error !== undefined && fieldError('enable-password-error', error)}${passkeyConfirmation(frame, passkeys, frame.texts.form.firstByPasskey)}`
}

function statusCard(
  { texts: { secondFactor } }: PageFrame,
  { enabledAt, recoveryDigests }: SecondFactor,
): Html {
  return card({
    title: secondFactor.isOn,
    body: html`<dl class="facts"><div><dt>${secondFactor.since}</dt><dd>${exactTime(enabledAt)}</dd></div><div><dt>${secondFactor.recoveryCodesLeft}</dt><dd>${secondFactor.countOf(recoveryDigests.length, recoveryCodesCount)}</dd></div></dl>`,
  })
}

function changeCards(frame: PageFrame, view: SecondFactorView, factor: SecondFactor): Html {
  const hasPasskeys = (factor.passkeys ?? []).length > 0
  const { newCodes, turnOff, removeApp } = frame.texts.secondFactor
  return html`${proofForm(frame, view, factor, {
    name: 'recovery-codes',
    ...newCodes,
  })}${
    factor.sealed !== undefined &&
    proofForm(frame, view, factor, {
      name: 'disable',
      ...(hasPasskeys ? removeApp : turnOff),
    })
  }`
}

interface ProofForm {
  readonly name: Exclude<SecondFactorForm, 'enable'>
  readonly title: string
  readonly lead: string
  readonly submit: string
}

function proofForm(
  frame: PageFrame,
  view: SecondFactorView,
  factor: SecondFactor,
  { name, title, lead, submit }: ProofForm,
): Html {
  const state = stateOf(view.refused, name)
  return card({
    title,
    lead,
    body: form(frame, {
      action: `/profile/two-factor/${name}`,
      body: html`${formMessage(state, true)}${proofFields(frame, state, { idPrefix: `${name}-`, factor })}<div>${button(submit)}</div>`,
    }),
  })
}

/** The second factor of an account, for Admins. They turn off their own on their profile, with a code. */
export function secondFactorRow(frame: PageFrame, { id, portal }: Account, isOwn: boolean): Html | undefined {
  const { secondFactor } = portal
  if (secondFactor === undefined) return undefined
  const { sealed, passkeys = [] } = secondFactor
  const { title, ofAccount: texts } = frame.texts.secondFactor
  const means = [
    ...(sealed === undefined ? [] : [texts.app]),
    ...(passkeys.length === 0 ? [] : [texts.passkeys(passkeys.length)]),
  ]
  if (isOwn) return factRow(title, texts.own(`${frame.base}/profile/two-factor`))
  return actionRow(frame, {
    path: `/accounts/${id}/reset-second-factor`,
    text: texts.isOn(means),
    hint: texts.hint,
    button: frame.texts.passkeys.remove,
  })
}

/** The page that asks for a passkey or a code after the right password. */
export function signInCodePage(
  frame: PageFrame,
  state: FormState & SecondFactorChoice & { readonly next: string; readonly pending: string },
): Html {
  const { hasApp, hasPasskeys } = state
  const { passkeys, base } = frame
  const texts = frame.texts.secondFactor.signIn
  const kept = hidden({ next: state.next, pending: state.pending })
  const passkeyPart =
    passkeys &&
    hasPasskeys &&
    passkeyForm(frame, passkeys, {
      action: '/sign-in/code',
      options: '/sign-in/passkey/options',
      state: { ...state, message: undefined },
      body: kept,
      text: texts.usePasskey,
      look: 'primary wide',
    })
  const body = html`${formMessage(state)}${passkeyPart}${form(frame, {
    action: '/sign-in/code',
    body: html`${kept}
${codeField(state, {
  label: hasApp ? texts.code : frame.texts.secondFactor.proof.recoveryCode,
  hint: hasApp ? texts.codeHint : texts.recoveryCodeHint,
  hasFocus: !passkeyPart,
})}
<button class="${passkeyPart ? '' : 'primary '}wide">${frame.texts.signIn.submit}</button>`,
  })}`
  return signedOutPage(frame, {
    title: hasPasskeys ? texts.titleWithPasskeys : texts.title,
    body,
    after: (hasPasskeys ? texts.lostPasskeys : texts.lostApp)(`${base}/sign-in`),
  })
}

/** A QR code as a picture, dark on light in both colour schemes, as cameras need it. */
function qrCode(text: string, description: string): Html {
  const svg = renderSVG(text, { ecc: 'M', border: 2 })
  const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
  return html`<img class="qr" src="${source}" alt="${description}" width="200" height="200">`
}
