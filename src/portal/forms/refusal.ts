import { type ErrorCode, type ErrorDefinition, errorDefinitions } from '#platform/errors/codes.ts'
import { type FieldError, GatehouseError, invalidField, reworded } from '#platform/errors/gatehouse-error.ts'
import type { Messages } from '../texts/en/layout.ts'
import type { Texts } from '../texts/texts.ts'
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

/** A title or detail of an error in the viewer's language. */
export function shownMessage({ errors }: Texts, message: string): string {
  return translated(errors.messages, message) ?? message
}

/** What is wrong with a field, as a sentence in the viewer's language. */
export function fieldMessage({ errors }: Texts, { field, message }: FieldError): string {
  return translated(errors.messages, message) ?? asSentence(field, message)
}

/** What is wrong with a line of an import file, such as `email: …; role: …`, in the viewer's language. */
export function lineMessage({ errors: { messages } }: Texts, message: string): string {
  const whole = translated(messages, message)
  if (whole !== undefined) return whole
  const parts = message.split('; ').map((part) => {
    const [field = '', ...others] = part.split(': ')
    const inWords = translated(messages, others.join(': '))
    return { text: inWords === undefined ? part : `${field}: ${inWords}`, isSentence: inWords !== undefined }
  })
  return parts.map(({ text }) => text).join(parts.every(({ isSentence }) => isSentence) ? ' ' : '; ')
}

/** Capitalises the message, but only if it begins with a word; an e-mail is left unchanged. */
function asSentence(field: string, message: string): string {
  const whole = message.startsWith('is ') ? `this ${field} ${message}` : message
  const begun = whole.replace(/^[a-z](?=[a-z]*\s)/, (letter) => letter.toUpperCase())
  return `${begun}${/[.!?]$/.test(message) ? '' : '.'}`
}

/** Such as `in 30 seconds`, `in 1 minute`. */
function retryTime(seconds: number, { relative }: PageFrame['locale']): string {
  return seconds < 60 ? relative(seconds, 'second') : relative(Math.ceil(seconds / 60), 'minute')
}

/** An error in the words of one form: for some codes it knows better what has happened. */
export function inWordsOf(error: unknown, details: Readonly<Partial<Record<ErrorCode, string>>>): unknown {
  const detail = error instanceof GatehouseError ? details[error.code] : undefined
  return error instanceof GatehouseError && detail !== undefined ? reworded(error, { detail }) : error
}

/** Turns a wrong password into an error of its field; any other error is returned unchanged. */
export function asFieldError(error: unknown, field: string, message: string): unknown {
  const isWrong = error instanceof GatehouseError && error.code === 'credentials-invalid'
  return isWrong ? invalidField(field, message) : error
}

/** The message in the language of the table; undefined = it has none. */
export function translated(messages: Messages, message: string): string | undefined {
  const exact = Object.hasOwn(messages, message) ? messages[message] : undefined
  if (typeof exact === 'string') return exact
  for (const [pattern, translate] of Object.entries(messages)) {
    const inserted = typeof translate === 'function' && insertedIn(message, pattern.split('{}'))
    if (inserted) return translate(...inserted)
  }
  return undefined
}

/** What stands between the parts; undefined = the message is another. Takes linear time. */
function insertedIn(message: string, [first = '', ...others]: readonly string[]): string[] | undefined {
  if (!message.startsWith(first)) return undefined
  const inserted: string[] = []
  let from = first.length
  for (const [index, part] of others.entries()) {
    const isLast = index === others.length - 1
    const at = isLast ? message.length - part.length : message.indexOf(part, from)
    if (at < from || !message.startsWith(part, at)) return undefined
    inserted.push(message.slice(from, at))
    from = at + part.length
  }
  return inserted
}
