import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomText, toBase62 } from '../random.ts'

/**
 * The two persistent credentials of an account:
 *
 *     gsk_<handle>_<secret>_<checksum>     gak_…
 *
 * The handle is the account's ID, so that one look-up finds everything; the secret has 256 bits; the
 * checksum is the CRC-32 of what stands before it, so that a mistyped or made-up key costs no look-up.
 */
export type KeyKind = 'secretKey' | 'apiKey'

const prefixes = { secretKey: 'gsk', apiKey: 'gak' } as const
const handleLength = 16
const secretLength = 43
const checksumLength = 6
const keyPattern = new RegExp(
  `^(gsk|gak)_([0-9A-Za-z]{${handleLength}})_[0-9A-Za-z]{${secretLength}}_([0-9A-Za-z]{${checksumLength}})$`,
)

/** Length of every key. */
export const keyLength = 3 + 1 + handleLength + 1 + secretLength + 1 + checksumLength

export interface ParsedKey {
  readonly accountId: string
  /** SHA-256 of the whole key: enough for a secret of 256 bits. */
  readonly digest: Uint8Array
}

/** A new account ID. */
export function createAccountId(): string {
  return randomText(handleLength)
}

/** A new key of an account. */
export function createKey(kind: KeyKind, accountId: string): string {
  const body = `${prefixes[kind]}_${accountId}_${randomText(secretLength)}`
  return `${body}_${checksumOf(body)}`
}

/** A key's account and digest; undefined where it is none, of the other kind, or its checksum is wrong. */
export function parseKey(kind: KeyKind, text: string): ParsedKey | undefined {
  if (text.length !== keyLength) return undefined
  const [, prefix, accountId, checksum] = keyPattern.exec(text) ?? []
  if (prefix !== prefixes[kind] || accountId === undefined) return undefined
  if (checksum !== checksumOf(text.slice(0, -1 - checksumLength))) return undefined
  return { accountId, digest: digestOf(text) }
}

/** What is stored of a key. */
export function digestOf(key: string): Uint8Array {
  return hash('sha256', key, 'buffer')
}

function checksumOf(body: string): string {
  return toBase62(crc32(body), checksumLength)
}
