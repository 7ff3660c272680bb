import { type Language, localeOf } from '#platform/languages.ts'
import * as de from './de/de.ts'
import { en, type Texts } from './en/en.ts'

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
  return { language, locale: localeOf(language), texts: translations[language].texts }
}
