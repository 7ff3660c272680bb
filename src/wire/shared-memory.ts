import type { Socket } from 'node:net'
import { heldBytesMax } from './response-writer.ts'

/** As much as a socket reads at once otherwise. For all of them: what one has read is handed on before another reads. */
export const shared = Buffer.allocUnsafeSlow(65_536)

/** What was just read: good until the call returns. What is too long to be copied by all who pass it on is already a copy. */
export function justRead(length: number): Buffer {
  return length > heldBytesMax ? copyOfShared(length) : shared.subarray(0, length)
}

/** All of its memory is its own, so that it can be let go. */
function copyOfShared(length: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(length)
  shared.copy(copy, 0, 0, length)
  return copy
}

/** The same bytes, good for as long as anybody wants: everyone who keeps what was read has to ask for them. */
export function kept(bytes: Buffer): Buffer {
  return bytes.buffer === shared.buffer ? Buffer.from(bytes) : bytes
}

type Take = (length: number) => boolean

/**
 * Has a socket read into the shared memory, as the option `onread` of net.connect does: for sockets that a server
 * accepts there is none, so what Node keeps that option in is set here.
 * @param take told how much was read; returns whether the socket is to read on
 * @returns whether that is possible; not with TLS, nor should Node keep it elsewhere some day
 */
export function readIntoShared(socket: Socket, take: Take): boolean {
  // The cast is sound: each part is looked at before it is used.
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
