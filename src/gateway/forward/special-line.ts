import type { HeaderRule } from './header-rules.ts'
import { withoutPrefixInIf } from './if-field.ts'
import type { OwnCookies } from './own-cookies.ts'
import type { StrippedPrefix } from './stripped-prefix.ts'

export interface SpecialLineOptions {
  /** The cookies that never leave the gateway. */
  readonly ownCookies: OwnCookies
  readonly strippedPrefix: StrippedPrefix | undefined
}

/** The line of a forwarded field whose rule is another than `pass`; empty where nothing is left of it. */
export function specialLine(
  rule: HeaderRule,
  name: string,
  value: string,
  { ownCookies, strippedPrefix }: SpecialLineOptions,
): string {
  if (rule === 'cookie') {
    const left = ownCookies.remove(value)
    return left === '' ? '' : `${name}: ${left}\r\n`
  }
  if (rule === 'if' && strippedPrefix) return `${name}: ${withoutPrefixInIf(value, strippedPrefix.own)}\r\n`
  return `${name}: ${value}\r\n`
}
