import { randomFillSync } from 'node:crypto'

/** Random bytes for one ID take longer than all else that a trace needs; for many they take no longer. */
const random = Buffer.alloc(1_024)
let batch = ''
let position = 0

/** Random hexadecimal digits. @param length at most twice the bytes of a batch */
export function createRandomHex(length: number): string {
  if (position + length > batch.length) {
    batch = randomFillSync(random).toString('hex')
    position = 0
  }
  position += length
  return batch.slice(position - length, position)
}
