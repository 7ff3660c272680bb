import type { Socket } from 'node:net'
import { smallChunkBytesMax } from './response-writer.ts'

/** The size of a socket's usual read. All sockets share it: each delivers what it has read before another reads. */
export const sharedBuffer = Buffer.allocUnsafeSlow(65_536)

export const noBytes = Buffer.alloc(0)

/** Views of the shared memory are kept up to this length, which takes 0.2 MiB at most. */
const keptViewBytesMax = 2_048
/** By length, as the lengths of messages repeat. */
const keptViews: (Buffer | undefined)[] = Array.from({ length: keptViewBytesMax + 1 }, () => undefined)

/**
 * The data of the last read: valid until the caller returns. Long data, which receivers would not copy, is copied here.
 */
export function receivedChunk(length: number): Buffer {
  if (length > smallChunkBytesMax) return copyOfShared(length)
  return length > keptViewBytesMax ? sharedBuffer.subarray(0, length) : keptView(length)
}

function keptView(length: number): Buffer {
  const view = keptViews[length] ?? sharedBuffer.subarray(0, length)
  keptViews[length] = view
  return view
}

/** A copy in memory of its own, so that `releaseBuffer` can free it. */
function copyOfShared(length: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(length)
  sharedBuffer.copy(copy, 0, 0, length)
  return copy
}

/** The same bytes, permanently valid: code that keeps what was read has to call this. */
export function ownedCopy(bytes: Buffer): Buffer {
  return bytes.buffer === sharedBuffer.buffer ? Buffer.from(bytes) : bytes
}

type OnRead = (length: number) => boolean

/**
 * Makes a socket read into the shared memory, as the option `onread` of net.connect does. Accepted sockets do not have
 * that option, so the fields in which Node stores it are set here.
 * @param onRead gets the number of bytes read; returns whether the socket continues reading
 * @returns whether that is possible: not with TLS, nor with a Node version that stores it elsewhere
 */
export function readIntoSharedBuffer(socket: Socket, onRead: OnRead): boolean {
  // The cast is sound: each part is checked before it is used.
  const { _handle: handle } = socket as { readonly _handle?: { useUserBuffer?: (memory: Buffer) => void } }
  readSymbols ??= findReadSymbols(socket)
  if ('encrypted' in socket || !handle?.useUserBuffer || !readSymbols) return false
  Object.assign(socket, { [readSymbols.buffer]: sharedBuffer, [readSymbols.callback]: onRead })
  handle.useUserBuffer(sharedBuffer)
  return true
}

interface ReadSymbols {
  readonly buffer: symbol
  readonly callback: symbol
}

let readSymbols: ReadSymbols | undefined

function findReadSymbols(socket: Socket): ReadSymbols | undefined {
  const symbols = Object.getOwnPropertySymbols(socket)
  const buffer = symbols.find(({ description }) => description === 'kBuffer')
  const callback = symbols.find(({ description }) => description === 'kBufferCb')
  return buffer && callback && { buffer, callback }
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

/** Whether everything written has been passed to the system, so that none of its memory is in use. */
export function hasWrittenAll(socket: Socket): boolean {
  return socket.writableLength === 0 && !socket.destroyed && !socket.errored
}
