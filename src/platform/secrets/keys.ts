import { hash } from 'node:crypto'
import {
  accountIdLength,
  defaultKeyPrefix,
  keyChecksumLength,
  keyMarks,
  keyPrefixLengthMax,
  oldKeyPrefixes,
  randomText,
  secretLength,
  toBase62,
} from './key-format.ts'
import { isSameBytes, isSameCompact } from './sealing.ts'

/**
 * The two kinds of persistent credential of an account:
 *
 *     <prefix>_sk_<handle>_<secret>_<checksum>     <prefix>_ak_…
 *
 * The prefix is `keys.prefix` of the config when the key was made; one made before that option has `gsk_<handle>…` or
 * `gak_…`. The handle is the account's ID, so that one look-up finds everything; the secret has 256 bits; the checksum
 * is the CRC-32 of the text before its `_`, so that a mistyped or made-up key costs no look-up.
 */
export type KeyKind = 'secretKey' | 'apiKey'

/** Local constants, as every key is compared with them (hot). */
const oldHeads = { secretKey: `${oldKeyPrefixes.secretKey}_`, apiKey: `${oldKeyPrefixes.apiKey}_` } as const
/** The mark after the prefix. */
const marks = { secretKey: `_${keyMarks.secretKey}_`, apiKey: `_${keyMarks.apiKey}_` } as const
const markLength = marks.secretKey.length
/** The length from the handle to the end; only the prefix varies in length. */
const tailLength = accountIdLength + 1 + secretLength + 1 + keyChecksumLength
const oldHeadLength = oldHeads.secretKey.length
const headLengthMax = keyPrefixLengthMax + markLength

export interface ParsedKey {
  readonly accountId: string
  /** SHA-256 of the whole key, which is enough for a secret of 256 bits. For storage use digestOf instead. */
  readonly digest: Uint8Array
}

export function createAccountId(): string {
  return randomText(accountIdLength)
}

/** A new key of an account. @param prefix `keys.prefix` of the config */
export function createKey(kind: KeyKind, accountId: string, prefix: string = defaultKeyPrefix): string {
  const body = `${prefix}${marks[kind]}${accountId}_${randomText(secretLength)}`
  return `${body}_${checksumOf(body)}`
}

/**
 * A key's account and digest; undefined if the text is not a key of this kind, whatever its prefix, or its checksum is
 * wrong.
 */
export function parseKey(kind: KeyKind, text: string): ParsedKey | undefined {
  const headLength = text.length - tailLength
  if (!hasHeadOf(kind, text, headLength) || !isWellFormed(text, headLength)) return undefined
  return { accountId: accountIdOf(text), digest: digestBytes(text) }
}

function accountIdOf(text: string): string {
  const start = text.length - tailLength
  return text.slice(start, start + accountIdLength)
}

/** The digest that is stored of a key. */
export function digestOf(key: string): Uint8Array {
  return hash('sha256', key, 'buffer')
}

/** The digest in pooled memory, for short use (hot). */
function digestBytes(key: string): Uint8Array {
  return Buffer.from(hash('sha256', key, 'latin1'), 'latin1')
}

/** Whether the characters before the handle are those of a key of this kind. */
function hasHeadOf(kind: KeyKind, text: string, headLength: number): boolean {
  if (headLength <= oldHeadLength) return headLength === oldHeadLength && text.startsWith(oldHeads[kind])
  if (headLength > headLengthMax) return false
  const prefixLength = headLength - markLength
  if (!text.startsWith(marks[kind], prefixLength) || !isSmallLetter(text.charCodeAt(0))) return false
  for (let index = 1; index < prefixLength; index++) {
    const code = text.charCodeAt(index)
    if (!isSmallLetter(code) && !isDecimal(code)) return false
  }
  return true
}

/** Whether a text with such a head has the form and checksum of a key, in one pass (hot). */
function isWellFormed(text: string, headLength: number): boolean {
  const handleEnd = headLength + accountIdLength
  const bodyEnd = handleEnd + 1 + secretLength
  let crc = -1
  for (let index = 0; index < bodyEnd; index++) {
    const code = text.charCodeAt(index)
    if (index >= headLength && (index === handleEnd ? code !== underscore : digitOf(code) === noDigit))
      return false
    crc = (crcOfByte[(crc ^ code) & 0xff] ?? 0) ^ (crc >>> 8)
  }
  if (text.charCodeAt(bodyEnd) !== underscore) return false
  let checksum = 0
  for (let index = bodyEnd + 1; index < text.length; index++) {
    const digit = digitOf(text.charCodeAt(index))
    if (digit === noDigit) return false
    checksum = checksum * base + digit
  }
  return checksum === ~crc >>> 0
}

function isSmallLetter(code: number): boolean {
  return code >= 0x61 && code <= 0x7a
}

function isDecimal(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

const underscore = 0x5f
const base = 62
const noDigit = 0xff

/** The value of a letter or digit in toBase62, by character code. */
const digits = new Uint8Array(128).fill(noDigit)
for (let value = 0; value < base; value++) digits[toBase62(value, 1).charCodeAt(0)] = value

function digitOf(code: number): number {
  return digits[code] ?? noDigit
}

/** The table for zlib's CRC-32, byte by byte. */
const crcOfByte = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})

function checksumOf(body: string): string {
  let crc = -1
  for (const byte of Buffer.from(body)) crc = (crcOfByte[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return toBase62(~crc >>> 0, keyChecksumLength)
}

interface HasApiKey {
  readonly apiKey: HasDigest
}

interface HasDigest {
  readonly digest: Uint8Array
}

/** The key with this digest. Constant time: all keys are compared, each as a whole. */
export function findKey<Key extends HasDigest>(keys: readonly Key[], digest: Uint8Array): Key | undefined {
  let found: Key | undefined
  for (const key of keys) {
    if (isSameBytes(key.digest, digest)) found = key
  }
  return found
}

interface HasCompactDigest {
  /** From `compactDigest`. */
  readonly digest: string
}

/** A digest as a text with one character for each byte. */
export function compactDigest(digest: Uint8Array): string {
  return Buffer.from(digest).toString('latin1')
}

/** The key with this digest, of keys with compact digests. Constant time too. */
export function findCompactKey<Key extends HasCompactDigest>(
  keys: readonly Key[],
  digest: Uint8Array,
): Key | undefined {
  let found: Key | undefined
  for (const key of keys) {
    if (isSameCompact(key.digest, digest)) found = key
  }
  return found
}

/** Whether a digest is that of the account's API key. Constant time. */
export function isApiKeyOf(account: HasApiKey | undefined, digest: Uint8Array): boolean {
  return isSameBytes(account?.apiKey.digest, digest)
}
