/** How a language writes numbers and times. */
export interface Locale {
  /** A BCP 47 tag, for `Intl`. */
  readonly tag: string
  /** Before the last of several alternatives. */
  readonly or: string
  readonly justNow: string
  /** Used for times within the next minute. */
  readonly soon: string
  /** Such as `3 hours ago`, `in 1 day`. @param count whole; negative = in the past */
  relative(count: number, unit: TimeUnit): string
  /** Such as `3 hours`, `1 day`. @param count whole, at least 0 */
  amount(count: number, unit: TimeUnit): string
}

type TimeUnit = 'day' | 'hour' | 'minute' | 'second'

export const english: Locale = {
  tag: 'en-GB',
  or: 'or',
  justNow: 'just now',
  soon: 'in less than a minute',
  relative: (count, unit) => {
    const amount = english.amount(Math.abs(count), unit)
    return count < 0 ? `${amount} ago` : `in ${amount}`
  },
  amount: (count, unit) => `${count} ${unit}${count === 1 ? '' : 's'}`,
}

/** German nouns: nominative and accusative plural, and the dative plural that follows *vor* and *in*. */
const germanUnits = {
  day: { one: 'Tag', many: 'Tage', dativeOne: 'einem Tag', dativeMany: 'Tagen' },
  hour: { one: 'Stunde', many: 'Stunden', dativeOne: 'einer Stunde', dativeMany: 'Stunden' },
  minute: { one: 'Minute', many: 'Minuten', dativeOne: 'einer Minute', dativeMany: 'Minuten' },
  second: { one: 'Sekunde', many: 'Sekunden', dativeOne: 'einer Sekunde', dativeMany: 'Sekunden' },
} as const

export const german: Locale = {
  tag: 'de-DE',
  or: 'oder',
  justNow: 'gerade eben',
  soon: 'in weniger als einer Minute',
  relative: (count, unit) => {
    const { dativeOne, dativeMany } = germanUnits[unit]
    const amount = Math.abs(count)
    return `${count < 0 ? 'vor' : 'in'} ${amount === 1 ? dativeOne : `${amount} ${dativeMany}`}`
  },
  amount: (count, unit) => {
    const { one, many } = germanUnits[unit]
    return `${count} ${count === 1 ? one : many}`
  },
}

/** The languages that people can choose, by the tags of browsers (BCP 47). */
export const locales = { en: english, de: german } as const

export type Language = keyof typeof locales

export function isLanguage(tag: string | undefined): tag is Language {
  return tag !== undefined && Object.hasOwn(locales, tag)
}
