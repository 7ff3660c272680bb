import type { Socket } from 'node:net'
import { smallChunkBytesMax } from './response-writer.ts'

/**
 * Frees the memory of a chunk that nothing uses any longer: collecting the pieces of a large body as garbage costs as
 * much as forwarding them. Small pieces are not worth the call.
 */
export function releaseBuffer(chunk: Buffer): void {
  const { buffer, byteLength } = chunk
  if (byteLength <= smallChunkBytesMax || byteLength !== buffer.byteLength) return
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Whether everything written has been passed to the system, so that none of its memory is in use. */
export function hasWrittenAll(socket: Socket): boolean {
  return socket.writableLength === 0 && !socket.destroyed && !socket.errored
}
