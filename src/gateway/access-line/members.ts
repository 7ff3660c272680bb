import { memoizeBounded } from '#platform/memoize.ts'
import { copyString } from '#platform/text.ts'

/** Matches what JSON writes as it is, as nearly all is: asking takes less time than writing by JSON. */
const plainText = /^[ !#-[\]-~]*$/

/** The values that are seen again and again: those of a config with thousands of routes. */
const frequentBounds = { entriesMax: 10_000, keyLengthMax: 128 }

/** A member of a JSON object, followed by a comma; empty where there is no value. */
export function jsonMember(name: string, value: string | undefined): string {
  if (value === undefined) return ''
  return plainText.test(value) ? `"${name}":"${value}",` : `"${name}":${JSON.stringify(value)},`
}

/** The same for values that repeat. They are Latin-1, as all of a request and a config's names are. */
export function frequentMember(name: string): (value: string) => string {
  return memoizeBounded(frequentBounds, (value) => copyString(jsonMember(name, value)))
}
