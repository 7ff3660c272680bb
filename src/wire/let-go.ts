import type { Socket } from 'node:net'
import { heldBytesMax } from './response-writer.ts'

/**
 * Frees the memory of what was read, of which nothing may be in use any more: left to the garbage collector, the
 * pieces of a large body cost as much as to pass them on. Small ones are not worth the call.
 */
export function letGo(chunk: Buffer): void {
  const { buffer, byteLength } = chunk
  if (byteLength <= heldBytesMax || byteLength !== buffer.byteLength) return
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Whether the system has taken all that was written, so that nothing of it is in use. */
export function hasWrittenAll(socket: Socket): boolean {
  return socket.writableLength === 0 && !socket.destroyed && !socket.errored
}
