import type { Socket } from 'node:net'

/** Something whose next write can be put off. */
export interface DeferredWrite {
  /** Set while it waits: by `deferWrite`, until it writes. */
  isDeferred: boolean
  /** Called at least once after it was put off: it may have been written in the meantime. */
  writeNow(): void
}

/** Maximum number of writes in one batch: the first waits for the last (docs/performance.md). */
const batchMax = 128

let batch: DeferredWrite[] = []
let isScheduled = false

/**
 * Puts a write off until the end of this turn of the event loop, so that the writes of a turn follow each other: a request
 * costs a tenth less then (docs/performance.md).
 */
export function deferWrite(write: DeferredWrite): void {
  if (write.isDeferred) return
  write.isDeferred = true
  if (batch.length >= batchMax) writeBatch()
  batch.push(write)
  if (isScheduled) return
  isScheduled = true
  setImmediate(endTurn)
}

/** Whether a write would fill the buffer: a socket emits `drain` only after a write that it has answered with false. */
export function mustWriteNow({ writableLength, writableHighWaterMark }: Socket, bytes: number): boolean {
  return writableLength + bytes >= writableHighWaterMark
}

function endTurn(): void {
  isScheduled = false
  writeBatch()
}

function writeBatch(): void {
  const writes = batch
  batch = []
  for (const write of writes) write.writeNow()
}

/**
 * Writing to the handle of a socket, past its stream, which takes as much time as reading a head does. It is an internal of
 * Node: where it is not there as expected, or the stream has something to write, the stream writes, and nothing else changes.
 */

/** What a write that the system does not take at once is known by. */
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

/** What is longer is rarely taken at once. */
const textLengthMax = 16_384
const binding = findBinding()
/** Used again until the system does not take a write at once, as it nearly always does. */
let spare: WriteRequest | undefined

/**
 * Writes text in Latin-1.
 * @param onWritten called once it was passed to the system, if it was not at once; never if the socket is closed before
 * @returns whether it was passed to the system at once; undefined = the stream is to write it
 */
export function writeDirectly(socket: Socket, text: string, onWritten: () => void): boolean | undefined {
  if (binding === undefined || text.length > textLengthMax) return undefined
  if (socket.writableLength > 0 || socket.writableEnded || socket.destroyed) return undefined
  // The cast is sound: each part is checked before it is used.
  const { _handle: handle } = socket as { readonly _handle?: Partial<Handle> | null }
  if (handle?.writeLatin1String === undefined || 'encrypted' in socket) return undefined
  spare ??= new binding.WriteWrap()
  // The stream meets the same error, and deals with it.
  if (handle.writeLatin1String(spare, text) !== 0) return undefined
  if (binding.streamBaseState[binding.kLastWriteWasAsync] === 0) return true
  spare.oncomplete = (status) => {
    if (status === 0) onWritten()
    else socket.destroy(new Error('what was written could not be sent'))
  }
  spare = undefined
  return false
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
