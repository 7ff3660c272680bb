import { type Html, html } from '#platform/pages/html.ts'
import type { SecondFactor } from '#store/portal-access.ts'
import { currentPasswordField, field } from './form.ts'
import type { FormState, PageFrame } from './frame.ts'

interface ProofOptions {
  readonly idPrefix: string
  /** undefined = the password is enough. */
  readonly factor: SecondFactor | undefined
}

/** Asks for password and second factor before one is changed; a passkey that was just used is both. */
export function proofFields(frame: PageFrame, state: FormState, { idPrefix, factor }: ProofOptions): Html {
  const isAsked = factor !== undefined && frame.passkeys?.isConfirmed !== true
  const { proof } = frame.texts.secondFactor
  const label = factor?.sealed === undefined ? proof.recoveryCode : proof.code
  return html`${isAsked && codeField(state, { idPrefix, label })}${currentPasswordField(frame, state, idPrefix)}`
}

export function codeField(
  state: FormState,
  { idPrefix, label }: { readonly idPrefix: string; readonly label: string },
): Html {
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
