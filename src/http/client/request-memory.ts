import { smallChunkBytesMax } from '../h1/response-writer.ts'

/** Room for the small parts of one turn of the event loop: where it is used up, a part gets memory of its own. */
const sharedBytes = 32 * smallChunkBytesMax

let shared = Buffer.allocUnsafeSlow(sharedBytes)
let usedBytes = 0
let partsInUse = 0

/** Memory for a part of a request until it is written, nearly always a part of what all connections share. */
export function takeMemory(bytes: number): Buffer {
  if (usedBytes + bytes > sharedBytes) return Buffer.allocUnsafe(bytes)
  const part = shared.subarray(usedBytes, usedBytes + bytes)
  usedBytes += bytes
  partsInUse++
  return part
}

/**
 * The part was written. Once all of them are, their memory is used again.
 * @param isKept whether the socket still needs it, as the system did not take all of it
 */
export function releaseMemory(part: Buffer, isKept: boolean): void {
  if (part.buffer !== shared.buffer) return
  if (isKept) {
    shared = Buffer.allocUnsafeSlow(sharedBytes)
    usedBytes = 0
    partsInUse = 0
  } else if (--partsInUse === 0) usedBytes = 0
}
