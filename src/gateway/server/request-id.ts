import { randomFillSync } from 'node:crypto'

const idBytes = 16
/** `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` (RFC 9562 4). */
const idLength = 36
/** Random bytes for one ID take as long as parsing a head; for many they take no longer. */
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

/** Writes all IDs of a batch as one text, to be sliced: building them one by one takes twice as long. */
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

/** Version 4 and the variant of RFC 9562, at their places. */
function withVersion(byte: number, byteIndex: number): number {
  if (byteIndex === 6) return (byte & 0x0f) | 0x40
  return byteIndex === 8 ? (byte & 0x3f) | 0x80 : byte
}
