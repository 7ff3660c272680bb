import { accountIdPattern, keyChecksumLength, keyMarks, oldKeyPrefixes, secretPattern } from './format.ts'
import type { KeyKind } from './keys.ts'

/** A regular expression for secret scanners, without anchors and groups: ERE, PCRE, RE2 and JavaScript read it alike. */
export interface KeyPattern {
  readonly kind: KeyKind
  /** How such keys begin. */
  readonly prefix: string
  readonly pattern: string
}

/** The patterns of keys: with the configured prefix, and of the form before it could be configured. */
export function keyPatterns(prefix: string): readonly KeyPattern[] {
  const tail = `_${accountIdPattern}_${secretPattern}_[0-9A-Za-z]{${keyChecksumLength}}`
  return [
    {
      kind: 'secretKey',
      prefix: `${prefix}_${keyMarks.secretKey}`,
      pattern: `${prefix}_${keyMarks.secretKey}${tail}`,
    },
    {
      kind: 'apiKey',
      prefix: `${prefix}_${keyMarks.apiKey}`,
      pattern: `${prefix}_${keyMarks.apiKey}${tail}`,
    },
    { kind: 'secretKey', prefix: oldKeyPrefixes.secretKey, pattern: oldKeyPrefixes.secretKey + tail },
    { kind: 'apiKey', prefix: oldKeyPrefixes.apiKey, pattern: oldKeyPrefixes.apiKey + tail },
  ]
}
