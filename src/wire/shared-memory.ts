import type { Socket } from 'node:net'
import { heldBytesMax } from './response-writer.ts'

/** As large as a socket's usual read. All sockets share it: each hands on what it read before another reads. */
export const shared = Buffer.allocUnsafeSlow(65_536)

/** What was just read: valid until the caller returns. Long data, which others would not copy again, are a copy already. */
export function justRead(length: number): Buffer {
  return length > heldBytesMax ? copyOfShared(length) : shared.subarray(0, length)
}

/** A copy with memory of its own, so that `letGo` can free it. */
function copyOfShared(length: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(length)
  shared.copy(copy, 0, 0, length)
  return copy
}

/** The same bytes, valid for good: all code that keeps what was read has to call this. */
export function kept(bytes: Buffer): Buffer {
  return bytes.buffer === shared.buffer ? Buffer.from(bytes) : bytes
}

type Take = (length: number) => boolean

/**
 * Has a socket read into the shared memory, as the option `onread` of net.connect does: sockets that a server accepts
 * do not have that option, so the fields that Node keeps it in are set here.
 * @param take told how much was read; returns whether the socket is to read on
 * @returns whether that is possible: not with TLS, nor with a Node version that keeps it elsewhere
 */
export function readIntoShared(socket: Socket, take: Take): boolean {
  // The cast is sound: each part is checked before it is used.
  const { _handle: handle } = socket as { readonly _handle?: { useUserBuffer?: (memory: Buffer) => void } }
  places ??= findPlaces(socket)
  if ('encrypted' in socket || !handle?.useUserBuffer || !places) return false
  Object.assign(socket, { [places.memory]: shared, [places.take]: take })
  handle.useUserBuffer(shared)
  return true
}

interface Places {
  readonly memory: symbol
  readonly take: symbol
}

let places: Places | undefined

function findPlaces(socket: Socket): Places | undefined {
  const symbols = Object.getOwnPropertySymbols(socket)
  const memory = symbols.find(({ description }) => description === 'kBuffer')
  const take = symbols.find(({ description }) => description === 'kBufferCb')
  return memory && take && { memory, take }
}
