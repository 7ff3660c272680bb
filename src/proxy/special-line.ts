import { type HeaderRule, withoutCookie } from './header-rules.ts'
import { withoutPrefixInIf } from './if-field.ts'
import type { StrippedPrefix } from './stripped-prefix.ts'

export interface SpecialLineOptions {
  /** Name of the cookie that never leaves the gateway. */
  readonly refreshCookie: string
  readonly strippedPrefix: StrippedPrefix | undefined
}

/** The line of a forwarded field whose rule is another than `pass`; empty where nothing is left of it. */
export function specialLine(
  rule: HeaderRule,
  name: string,
  value: string,
  { refreshCookie, strippedPrefix }: SpecialLineOptions,
): string {
  if (rule === 'cookie') {
    const left = withoutCookie(value, refreshCookie)
    return left === '' ? '' : `${name}: ${left}\r\n`
  }
  if (rule === 'if' && strippedPrefix) return `${name}: ${withoutPrefixInIf(value, strippedPrefix.own)}\r\n`
  return `${name}: ${value}\r\n`
}
