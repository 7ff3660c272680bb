import type { FieldError } from '#platform/errors/gatehouse-error.ts'
import { type Language, locales } from '#platform/languages.ts'
import * as de from './de/de.ts'
import { en, type Texts } from './en/en.ts'
import type { Messages } from './en/layout.ts'

export type { Texts }

const translations: Readonly<Record<Language, { readonly name: string; readonly texts: Texts }>> = {
  en: { name: 'English', texts: en },
  de: { name: 'Deutsch', texts: de },
}

/** In the order in which they are offered, with their own names. */
export const languages = Object.entries(translations).map(([tag, { name }]) => ({
  // The cast is sound: it is a key of the table.
  tag: tag as Language,
  name,
}))

/** What a page in this language needs. */
export function translationOf(language: Language) {
  return { language, locale: locales[language], texts: translations[language].texts }
}

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

/** The translation of a message by the table; undefined = the table has none. */
export function translated(messages: Messages, message: string): string | undefined {
  const exact = Object.hasOwn(messages, message) ? messages[message] : undefined
  if (typeof exact === 'string') return exact
  for (const [pattern, translate] of Object.entries(messages)) {
    const inserted = typeof translate === 'function' && insertedIn(message, pattern.split('{}'))
    if (inserted) return translate(...inserted)
  }
  return undefined
}

/** The texts between the parts of a pattern; undefined = the message does not match it. Takes linear time. */
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
