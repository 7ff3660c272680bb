import type { Socket } from 'node:net'

/** Data up to this size is copied to save a write; longer data is written without a copy. */
export const smallChunkBytesMax = 16_384

/** Whether a write would fill the buffer: a socket emits `drain` only after a write that returned false. */
export function mustWriteNow({ writableLength, writableHighWaterMark }: Socket, bytes: number): boolean {
  return writableLength + bytes >= writableHighWaterMark
}

/** Whether everything written has been passed to the system, so that none of its memory is in use. */
export function hasWrittenAll(socket: Socket): boolean {
  return socket.writableLength === 0 && !socket.destroyed && !socket.errored
}

/** Longer text is rarely accepted at once. */
const textLengthMax = 16_384
const binding = findBinding()
/** Reused until the system does not accept a write at once, which is rare. */
let spare: WriteRequest | undefined

/**
 * Writes text in Latin-1 to the handle of a socket, bypassing its stream, which takes as much time as parsing a head.
 * The handle is internal to Node: if it is not as expected, or the stream has something to write, the stream writes,
 * and nothing else changes.
 * @param onWritten called once it was passed to the system, unless that happened at once; never if the socket is closed
 * first
 * @returns whether it was passed to the system at once; undefined = the stream has to write it
 */
export function writeDirectly(socket: Socket, text: string, onWritten: () => void): boolean | undefined {
  if (binding === undefined || text.length > textLengthMax) return undefined
  if (socket.writableLength > 0 || socket.writableEnded || socket.destroyed) return undefined
  // The cast is sound: each part is checked before it is used.
  const { _handle: handle } = socket as { readonly _handle?: Partial<Handle> | null }
  if (handle?.writeLatin1String === undefined || 'encrypted' in socket) return undefined
  spare ??= new binding.WriteWrap()
  // The stream will meet the same error, and handle it.
  if (handle.writeLatin1String(spare, text) !== 0) return undefined
  if (binding.streamBaseState[binding.kLastWriteWasAsync] === 0) return true
  spare.oncomplete = (status) => {
    if (status === 0) onWritten()
    else socket.destroy(new Error('what was written could not be sent'))
  }
  spare = undefined
  return false
}

/** Identifies a write that the system did not accept at once. */
interface WriteRequest {
  oncomplete?: (status: number) => void
}

interface Handle {
  /** @returns 0, or the number of a system error */
  writeLatin1String(request: WriteRequest, text: string): number
}

interface StreamBinding {
  readonly WriteWrap: new () => WriteRequest
  readonly streamBaseState: Int32Array
  readonly kLastWriteWasAsync: number
}

function findBinding(): StreamBinding | undefined {
  try {
    // The cast is sound: each part is checked.
    const { binding: find } = process as { readonly binding?: (name: string) => Partial<StreamBinding> }
    const { WriteWrap, streamBaseState, kLastWriteWasAsync } = find?.('stream_wrap') ?? {}
    if (typeof WriteWrap !== 'function' || !(streamBaseState instanceof Int32Array)) return undefined
    if (typeof kLastWriteWasAsync !== 'number') return undefined
    return { WriteWrap, streamBaseState, kLastWriteWasAsync }
  } catch {
    // With --permission it is refused.
    return undefined
  }
}
