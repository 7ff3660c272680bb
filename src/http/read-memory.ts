/** Data up to this size is copied to save a write; longer data is written without a copy. */
export const smallChunkBytesMax = 16_384

/**
 * The size of a socket's usual read. All sockets share it: what one has read is delivered, or copied, before another
 * reads.
 */
export const sharedBuffer = Buffer.allocUnsafeSlow(65_536)

/**
 * The data of the last read: valid until the caller returns. Long data, which receivers would not copy, is copied here.
 */
export function receivedChunk(length: number): Buffer {
  if (length > smallChunkBytesMax) return copyOfShared(length)
  return length > keptViewBytesMax ? sharedBuffer.subarray(0, length) : keptView(length)
}

/** Views of the shared memory are kept up to this length, which takes 0.2 MiB at most. */
const keptViewBytesMax = 2_048
/** By length, as the lengths of messages repeat. */
const keptViews: (Buffer | undefined)[] = Array.from({ length: keptViewBytesMax + 1 }, () => undefined)

function keptView(length: number): Buffer {
  const view = keptViews[length] ?? sharedBuffer.subarray(0, length)
  keptViews[length] = view
  return view
}

/** A copy in memory of its own, so that `releaseBuffer` can free it. */
export function copyOfShared(length: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(length)
  sharedBuffer.copy(copy, 0, 0, length)
  return copy
}

/** The same bytes, permanently valid: code that keeps what was read has to call this. */
export function ownedCopy(bytes: Buffer): Buffer {
  return bytes.buffer === sharedBuffer.buffer ? Buffer.from(bytes) : bytes
}

export const noBytes = Buffer.alloc(0)

/** What follows in some bytes: nearly always nothing, and an empty view would be one more object. */
export function restOf(bytes: Buffer, from: number): Buffer {
  return from === bytes.length ? noBytes : bytes.subarray(from)
}

/**
 * Frees the memory of a chunk that is no longer used: collecting the pieces of a large body as garbage costs as much as
 * forwarding them. Small pieces are not worth the call.
 */
export function releaseBuffer(chunk: Buffer): void {
  const { buffer, byteLength } = chunk
  if (byteLength <= smallChunkBytesMax || byteLength !== buffer.byteLength) return
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}
