import { randomFillSync } from 'node:crypto'

const idBytes = 16
/** To ask for the random bytes of one ID takes as long as to read a head; those of many take no longer. */
const batchSize = 256
const batch = Buffer.alloc(idBytes * batchSize)
let digits = ''
let at = 0

/** A random UUID (RFC 9562 5.4). */
export function createRequestId(): string {
  if (at === digits.length) refill()
  const start = at
  at += idBytes * 2
  return (
    `${digits.slice(start, start + 8)}-${digits.slice(start + 8, start + 12)}-` +
    `${digits.slice(start + 12, start + 16)}-${digits.slice(start + 16, start + 20)}-${digits.slice(start + 20, at)}`
  )
}

function refill(): void {
  randomFillSync(batch)
  for (let id = 0; id < batch.length; id += idBytes) {
    batch[id + 6] = ((batch[id + 6] ?? 0) & 0x0f) | 0x40
    batch[id + 8] = ((batch[id + 8] ?? 0) & 0x3f) | 0x80
  }
  digits = batch.toString('hex')
  at = 0
}
