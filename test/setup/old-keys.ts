import { crc32 } from 'node:zlib'
import { randomText, toBase62 } from '#platform/secrets/key-format.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'

/** A text with the checksum of a key, one byte for each character. */
export function withChecksum(body: string): string {
  return `${body}_${toBase62(crc32(Buffer.from(body, 'latin1')), 6)}`
}

/** A key as they were made before their prefix could be configured. */
export function createOldKey(kind: KeyKind, accountId: string): string {
  return withChecksum(`${kind === 'secretKey' ? 'gsk' : 'gak'}_${accountId}_${randomText(43)}`)
}
