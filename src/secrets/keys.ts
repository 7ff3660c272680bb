import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomText, toBase62 } from '../platform/random.ts'
import { isSameBytes } from './constant-time.ts'
import { accountIdLength, secretLength, secretPrefixes } from './format.ts'

/**
 * The two persistent credentials of an account:
 *
 *     gsk_<handle>_<secret>_<checksum>     gak_…
 *
 * The handle is the account's ID, so that one look-up finds everything; the secret has 256 bits; the checksum is the
 * CRC-32 of the text before its `_`, so that a mistyped or made-up key costs no look-up.
 */
export type KeyKind = 'secretKey' | 'apiKey'

/** An imported binding is read again for every key: a local constant rejects a malformed key some 15 % faster. */
const keyPrefixes = { secretKey: secretPrefixes.secretKey, apiKey: secretPrefixes.apiKey } as const
const checksumLength = 6
const handleStart = 4
const handleEnd = handleStart + accountIdLength
/** Length of the part that the checksum covers. */
const bodyLength = handleEnd + 1 + secretLength

/** Length of every key. */
export const keyLength = bodyLength + 1 + checksumLength

export interface ParsedKey {
  readonly accountId: string
  /** SHA-256 of the whole key: enough for a secret of 256 bits. To be stored, use digestOf instead. */
  readonly digest: Uint8Array
}

/** A new account ID. */
export function createAccountId(): string {
  return randomText(accountIdLength)
}

/** A new key of an account. */
export function createKey(kind: KeyKind, accountId: string): string {
  const body = `${keyPrefixes[kind]}_${accountId}_${randomText(secretLength)}`
  return `${body}_${checksumOf(body)}`
}

/** A key's account and digest; undefined where the text is not a key of this kind, or its checksum is wrong. */
export function parseKey(kind: KeyKind, text: string): ParsedKey | undefined {
  if (text.length !== keyLength || !text.startsWith(keyPrefixes[kind]) || !isWellFormed(text))
    return undefined
  return { accountId: accountIdOf(text), digest: digestBytes(text) }
}

/** The account ID in a text that is a key. */
export function accountIdOf(text: string): string {
  return text.slice(handleStart, handleEnd)
}

/** The digest that is stored of a key. */
export function digestOf(key: string): Uint8Array {
  return hash('sha256', key, 'buffer')
}

/** The same digest in pooled memory, for short use: a buffer of its own costs twice as much as the digest. */
function digestBytes(key: string): Uint8Array {
  return Buffer.from(hash('sha256', key, 'latin1'), 'latin1')
}

/** Whether a text of this length has the form and checksum of a key. One pass: a pattern and a call cost thrice. */
function isWellFormed(text: string): boolean {
  let crc = -1
  for (let index = 0; index < bodyLength; index++) {
    const code = text.charCodeAt(index)
    const isSeparator = index === handleStart - 1 || index === handleEnd
    if (isSeparator ? code !== underscore : digitOf(code) === noDigit) return false
    crc = (crcOfByte[(crc ^ code) & 0xff] ?? 0) ^ (crc >>> 8)
  }
  if (text.charCodeAt(bodyLength) !== underscore) return false
  let checksum = 0
  for (let index = bodyLength + 1; index < keyLength; index++) {
    const digit = digitOf(text.charCodeAt(index))
    if (digit === noDigit) return false
    checksum = checksum * base + digit
  }
  return checksum === ~crc >>> 0
}

const underscore = 0x5f
const base = 62
const noDigit = 0xff

/** The value of a letter or digit as toBase62 writes it, by its code. */
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
  return toBase62(crc32(body), checksumLength)
}

interface HasSecretKey {
  readonly secretKey: { readonly digest: Uint8Array }
  readonly previousSecretKey: { readonly digest: Uint8Array; readonly validUntil: number } | undefined
}

interface HasApiKey {
  readonly apiKey: { readonly digest: Uint8Array }
}

/** Whether a digest is that of the secret key, or of the previous one within its grace period. Constant time. */
export function isSecretKeyOf(account: HasSecretKey | undefined, digest: Uint8Array, now: number): boolean {
  // Returns early only for the current key.
  if (isSameBytes(account?.secretKey.digest, digest)) return true
  const isPrevious = isSameBytes(account?.previousSecretKey?.digest, digest)
  return isPrevious && now < (account?.previousSecretKey?.validUntil ?? 0)
}

/** Whether a digest is that of the API key. Constant time. */
export function isApiKeyOf(account: HasApiKey | undefined, digest: Uint8Array): boolean {
  return isSameBytes(account?.apiKey.digest, digest)
}
