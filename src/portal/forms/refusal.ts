import { type ErrorCode, type ErrorDefinition, errorDefinitions } from '#platform/errors/codes.ts'
import { GatehouseError, invalidField, reworded } from '#platform/errors/gatehouse-error.ts'
import { fieldMessage, shownMessage } from '../texts/texts.ts'
import type { FormState, PageFrame } from '../views/frame.ts'

/** A form that was refused, to be shown again. */
export interface FormRefusal {
  readonly status: number
  readonly state: FormState
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Turns an error into the state of the form, in the viewer's language, keeping the submitted values.
 * @throws every error that is not about the form
 */
export function formRefusal(
  { texts, locale }: Pick<PageFrame, 'texts' | 'locale'>,
  error: unknown,
  values: FormState['values'] = {},
): FormRefusal {
  if (!(error instanceof GatehouseError) || !isShownAtForms(error)) throw error
  const { code, status, detail, errors = [], rate } = error
  const seconds = rate && Math.max(1, Math.ceil(rate.retryMs / 1_000))
  const isTaken = code === 'account-exists' && values.email !== undefined
  const fields = isTaken
    ? { email: shownMessage(texts, errorDefinitions['account-exists'].detail) }
    : Object.fromEntries(errors.map((each) => [each.field, fieldMessage(texts, each)]))
  const retryHint = seconds === undefined ? '' : ` ${texts.errors.tryAgainIn(retryTime(seconds, locale))}`
  return {
    // A 401 requires a challenge (RFC 9110 15.5.2), and there is none for a form.
    status: status === 401 ? 403 : status,
    state: {
      values,
      errors: fields,
      message: Object.keys(fields).length > 0 ? undefined : shownMessage(texts, detail ?? '') + retryHint,
    },
    headers: {
      ...(seconds !== undefined && { 'Retry-After': String(seconds) }),
      // How long to wait is unknown here: it depends on what the owner of the account does.
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

/** Such as `in 30 seconds`, `in 1 minute`. */
function retryTime(seconds: number, { relative }: PageFrame['locale']): string {
  return seconds < 60 ? relative(seconds, 'second') : relative(Math.ceil(seconds / 60), 'minute')
}

/** The error in the words of a form, which for some codes knows better what has happened. */
export function inWordsOf(error: unknown, details: Readonly<Partial<Record<ErrorCode, string>>>): unknown {
  const detail = error instanceof GatehouseError ? details[error.code] : undefined
  return error instanceof GatehouseError && detail !== undefined ? reworded(error, { detail }) : error
}

/** Turns a wrong password into an error of its field; any other error is returned unchanged. */
export function asFieldError(error: unknown, field: string, message: string): unknown {
  const isWrong = error instanceof GatehouseError && error.code === 'credentials-invalid'
  return isWrong ? invalidField(field, message) : error
}
