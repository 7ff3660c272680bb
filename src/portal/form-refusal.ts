import { recordFailure } from '#gateway/gate/outcome.ts'
import { type ErrorDefinition, errorDefinitions } from '#platform/errors/codes.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { linkedProviders } from './oidc/portal-oidc.ts'
import type { PortalOptions, SignedInContext } from './page-context.ts'
import { type FormState, labelsOf } from './views/frame.ts'

/** A form that was refused, to be shown again. */
export interface FormRefusal {
  readonly status: number
  readonly state: FormState
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Turns an error into the state of the form, keeping the submitted values.
 * @param messages texts that override those of some codes
 * @throws every error that is not about the form
 */
export function formRefusal(
  error: unknown,
  values: FormState['values'],
  messages: Readonly<Record<string, string>> = {},
): FormRefusal {
  if (!(error instanceof GatehouseError) || !isShownAtForms(error)) throw error
  const { code, status, detail, errors = [], rate } = error
  const seconds = rate && Math.max(1, Math.ceil(rate.retryMs / 1_000))
  const isTaken = code === 'account-exists' && values.email !== undefined
  const fields = isTaken
    ? { email: 'An account with this e-mail already exists.' }
    : Object.fromEntries(errors.map(({ field, message }) => [field, asSentence(field, message)]))
  const retryHint = seconds === undefined ? '' : ` Try again in ${retryText(seconds)}.`
  return {
    // A 401 requires a challenge (RFC 9110 15.5.2), and there is none for a form.
    status: status === 401 ? 403 : status,
    state: {
      values,
      errors: fields,
      message: Object.keys(fields).length > 0 ? undefined : `${messages[code] ?? detail ?? ''}${retryHint}`,
    },
    headers: {
      ...(seconds !== undefined && { 'Retry-After': String(seconds) }),
      // How long it takes is unknown here: it depends on the account's owner.
      ...(status === 429 && seconds === undefined && { 'Retry-After': String(unknownRetryAfterS) }),
      ...(status === 503 && { 'Retry-After': String(busyRetryAfterS) }),
    },
  }
}

function isShownAtForms({ code }: GatehouseError): boolean {
  const { atForms }: ErrorDefinition = errorDefinitions[code]
  return atForms === true
}

/** When to try again after a 503, in seconds. */
const busyRetryAfterS = 5
const unknownRetryAfterS = 3_600

/** Capitalises the message, but only if it begins with a word; an e-mail is left unchanged. */
function asSentence(field: string, message: string): string {
  const whole = message.startsWith('is ') ? `this ${field} ${message}` : message
  const begun = whole.replace(/^[a-z](?=[a-z]*\s)/, (letter) => letter.toUpperCase())
  return `${begun}${/[.!?]$/.test(message) ? '' : '.'}`
}

function retryText(seconds: number): string {
  if (seconds < 60) return `${seconds} second${seconds === 1 ? '' : 's'}`
  const minutes = Math.ceil(seconds / 60)
  return `${minutes} minute${minutes === 1 ? '' : 's'}`
}

/**
 * Checks the password that the form asks for again, unless the viewer has just authenticated again at the
 * provider, or with a passkey.
 * @throws GatehouseError `request-invalid` (field `password`) if it is wrong, `too-many-failures` … …
 */
export async function confirmPassword(
  { viewer, visitor, form, request, texts }: SignedInContext,
  { signIn, oidc, passkeys }: Pick<PortalOptions, 'signIn' | 'oidc' | 'passkeys'>,
): Promise<void> {
  if (passkeys?.isConfirmed(request, viewer)) return
  if (oidc?.sessions.isConfirmed(request, viewer.session)) return
  const linked = oidc ? linkedProviders(oidc, viewer) : []
  if (oidc && linked.length > 0 && (viewer.account.portal.password === undefined || !oidc.acceptsPasswords)) {
    const where = labelsOf(linked, texts.form.or)
    throw invalidField('password', `First confirm with ${where} that it is you; it lasts for 5 minutes.`)
  }
  try {
    await signIn.confirm(viewer, form('password'), visitor)
  } catch (error) {
    if (error instanceof GatehouseError) recordFailure(request.arrival.outcome, error)
    throw asFieldError(error, 'password', 'The password is wrong.')
  }
}

/** Turns a wrong password into an error of its field; any other error is returned unchanged. */
export function asFieldError(error: unknown, field: string, message: string): unknown {
  const isWrong = error instanceof GatehouseError && error.code === 'credentials-invalid'
  return isWrong ? invalidField(field, message) : error
}
