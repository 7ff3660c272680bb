import { type Html, html } from '#platform/pages/html.ts'
import { passwordLength } from '#platform/secrets/passwords.ts'
import type { SecondFactor } from '#store/portal-access.ts'
import { type FieldOptions, field, fieldError } from './form.ts'
import { type FormState, type FrameOidc, type FramePasskeys, type PageFrame, providerQuery } from './frame.ts'

/** Asks for the password again before a sensitive action. */
export function currentPasswordField(frame: PageFrame, state: FormState, idPrefix: string): Html {
  const { viewer, oidc, passkeys } = frame
  const texts = frame.texts.form
  if (passkeys?.isConfirmed) return html`<p class="hint">${texts.confirmedByPasskey}</p>`
  if (oidc?.isConfirmed) return confirmationPart(frame, oidc)
  const error = state.errors.password
  const canConfirm = oidc !== undefined && oidc.linked.length > 0
  if (canConfirm && !oidc.hasPassword)
    return html`${error !== undefined && fieldError(`${idPrefix}password-error`, error)}${confirmationPart(frame, oidc)}`
  return html`${usernameField(viewer?.email)}${field(state, {
    name: 'password',
    label: texts.yourPassword,
    type: 'password',
    autocomplete: 'current-password',
    idPrefix,
  })}${canConfirm && confirmationPart(frame, oidc)}${passkeys?.canConfirm && passkeyConfirmation(frame, passkeys)}`
}

/** Leads to the page that asks for a passkey, and back. */
export function passkeyConfirmation(
  { base, texts: { form } }: PageFrame,
  { path }: FramePasskeys,
  text = form.orByPasskey,
): Html {
  return html`<p class="hint">${text(`${base}/confirm/passkey?next=${encodeURIComponent(path)}`)}</p>`
}

/** Asks the viewer to authenticate again at a provider, and afterwards says that it was done. */
function confirmationPart({ base, texts: { form } }: PageFrame, oidc: FrameOidc): Html {
  const { linked, isConfirmed, hasPassword, path } = oidc
  if (isConfirmed) return html`<p class="hint">${form.confirmed}</p>`
  const links = linked.map(
    (provider, index) =>
      html`${index > 0 && form.or}<a href="${base}/confirm${providerQuery(provider, path)}">${form.confirmWith(provider.label)}</a>`,
  )
  return html`<p class="hint">${hasPassword ? form.orAtProvider(links) : form.firstAtProvider(links)}</p>`
}

/** Lets password managers store and fill in the password of the right account. */
export function usernameField(email: string | undefined): Html {
  return html`<input type="text" name="username" autocomplete="username"${email !== undefined && html` value="${email}"`} hidden>`
}

/** A new password, typed twice, with its rules. */
export function newPasswordFields({ texts: { links } }: PageFrame, state: FormState, label: string): Html {
  return html`${field(state, {
    name: 'password',
    label,
    type: 'password',
    autocomplete: 'new-password',
    lengthMin: passwordLength.charactersMin,
    hint: links.newPasswordHint(passwordLength.charactersMin),
  })}
${field(state, {
  name: 'again',
  label: links.again(label),
  type: 'password',
  autocomplete: 'new-password',
})}`
}

/** Asks for password and second factor before a factor is changed; a passkey that was just used stands for both. */
export function proofFields(
  frame: PageFrame,
  state: FormState,
  { idPrefix, factor }: { readonly idPrefix: string; readonly factor: SecondFactor | undefined },
): Html {
  const isAsked = factor !== undefined && frame.passkeys?.isConfirmed !== true
  const { proof } = frame.texts.secondFactor
  const label = factor?.sealed === undefined ? proof.recoveryCode : proof.code
  return html`${isAsked && codeField(state, { idPrefix, label })}${currentPasswordField(frame, state, idPrefix)}`
}

export function codeField(
  state: FormState,
  options: Pick<FieldOptions, 'label' | 'hint' | 'hasFocus' | 'idPrefix'>,
): Html {
  return field(state, {
    ...options,
    name: 'code',
    autocomplete: 'one-time-code',
    isExact: true,
    lengthMax: 20,
    value: '',
  })
}
