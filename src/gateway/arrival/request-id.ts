import { randomFillSync } from 'node:crypto'
import { hideSecrets } from '#platform/secrets/hide-secrets.ts'
import type { UncommonFields } from './request-fields.ts'

const requestIdPattern = /^[!-~]{1,128}$/

/**
 * The request ID of the sender, if it is trusted. As the ID is logged and traced, one with a key or token in it is not
 * taken: its sender may pass on what clients sent.
 */
export function trustedRequestId(
  { requestId }: Pick<UncommonFields, 'requestId'>,
  isTrusted: boolean,
): string | undefined {
  if (!isTrusted || requestId === undefined || !requestIdPattern.test(requestId)) return undefined
  return hideSecrets(requestId) === requestId ? requestId : undefined
}

const idBytes = 16
/** `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` (RFC 9562 4). */
const idLength = 36
/** IDs are made in batches: one call for random bytes, many or few, takes as long as parsing a head. */
const batchSize = 256
const random = Buffer.alloc(idBytes * batchSize)
const written = Buffer.alloc(idLength * batchSize)
const digits = Buffer.from('0123456789abcdef', 'latin1')
const dash = '-'.charCodeAt(0)
let batch = ''
let position = 0

/** A random UUID (RFC 9562 5.4). */
export function createRequestId(): string {
  if (position === batch.length) refill()
  position += idLength
  return batch.slice(position - idLength, position)
}

/** Writes all IDs of a batch as one text, and slices it: half the work of building each. */
function refill(): void {
  randomFillSync(random)
  let end = 0
  for (let index = 0; index < random.length; index++) {
    const byteIndex = index % idBytes
    if (byteIndex === 4 || byteIndex === 6 || byteIndex === 8 || byteIndex === 10) written[end++] = dash
    const byte = withVersion(random[index] ?? 0, byteIndex)
    written[end++] = digits[byte >> 4] ?? 0
    written[end++] = digits[byte & 0x0f] ?? 0
  }
  batch = written.toString('latin1')
  position = 0
}

/** Sets the version 4 and the variant of RFC 9562 in their bytes. */
function withVersion(byte: number, byteIndex: number): number {
  if (byteIndex === 6) return (byte & 0x0f) | 0x40
  return byteIndex === 8 ? (byte & 0x3f) | 0x80 : byte
}
