import { english, german } from '#platform/locales.ts'
import { de } from './de/de.ts'
import { en, type Texts } from './en/en.ts'

export type { Texts }

export type Language = keyof typeof translations

/** The languages of the portal, by the tags of browsers (BCP 47), with their own names. */
const translations = {
  en: { name: 'English', locale: english, texts: en },
  de: { name: 'Deutsch', locale: german, texts: de },
} as const

/** In the order in which they are offered; the first is used where a browser asks for none of them. */
export const languages = Object.entries(translations).map(([tag, { name }]) => ({
  // The cast is sound: it is a key of the table.
  tag: tag as Language,
  name,
}))

export function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(translations, tag)
}

/** What a page in this language needs. */
export function translationOf(language: Language) {
  const { locale, texts }: { readonly locale: typeof english; readonly texts: Texts } = translations[language]
  return { language, locale, texts }
}
