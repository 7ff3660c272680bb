import type { Socket } from 'node:net'
import { handleOf, type PendingCall, type SocketHandle, streamBinding } from './socket-handle.ts'

/** Whether a write would fill the buffer: a socket emits `drain` only after a write that returned false. */
export function mustWriteNow(
  { writableLength, writableHighWaterMark }: Pick<Socket, 'writableLength' | 'writableHighWaterMark'>,
  bytes: number,
): boolean {
  return writableLength + bytes >= writableHighWaterMark
}

/** Whether everything written has been passed to the system, so that none of its memory is in use. */
export function hasWrittenAll(socket: Pick<Socket, 'writableLength' | 'destroyed' | 'errored'>): boolean {
  return socket.writableLength === 0 && !socket.destroyed && !socket.errored
}

/** Longer text is rarely accepted at once. */
const textLengthMax = 16_384
/** Reused until the system does not accept a write at once, which is rare. */
let spare: PendingCall | undefined

/**
 * Writes text in Latin-1 to the handle of a socket, bypassing its stream, which takes as much time as parsing a head.
 * If the handle cannot be used, or the stream has something to write, the stream writes, and nothing else changes.
 * @param onWritten called once it was passed to the system, unless that happened at once; never if the socket is closed
 * first
 * @returns whether it was passed to the system at once; undefined = the stream has to write it
 */
export function writeDirectly(socket: Socket, text: string, onWritten: () => void): boolean | undefined {
  if (socket.writableLength > 0 || socket.writableEnded || socket.destroyed) return undefined
  const handle = handleOf(socket)
  return handle && writeToHandle(handle, socket, text, onWritten)
}

/** As `writeDirectly`. @param owner destroyed if the system accepts a write later, and then cannot send it */
export function writeToHandle(
  handle: Partial<Pick<SocketHandle, 'writeLatin1String'>>,
  owner: { destroy(error: Error): unknown },
  text: string,
  onWritten: () => void,
): boolean | undefined {
  if (streamBinding === undefined || handle.writeLatin1String === undefined) return undefined
  if (text.length > textLengthMax) return undefined
  spare ??= new streamBinding.WriteWrap()
  // The stream will meet the same error, and handle it.
  if (handle.writeLatin1String(spare, text) !== 0) return undefined
  if (streamBinding.streamBaseState[streamBinding.kLastWriteWasAsync] === 0) return true
  spare.oncomplete = (status) => {
    if (status === 0) onWritten()
    else owner.destroy(new Error('what was written could not be sent'))
  }
  spare = undefined
  return false
}
