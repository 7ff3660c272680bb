import type { OnReadOpts, Socket } from 'node:net'
import { smallChunkBytesMax } from './socket-writes.ts'

/** The size of a read; Node only checks whether it is 0. */
const readSize = 65_536

/**
 * After this many chunks a connection yields to others. Over TLS each record is a chunk, and may have a single byte: a
 * client could keep the event loop for as long as it sends.
 */
export const deliveriesPerTurnMax = 256

/** Delivers what a socket receives, and continues after `resume`. */
export class SocketReader {
  protected readonly socket: Socket
  #onData: (chunk: Buffer) => boolean
  #isPaused = false
  #isStopped = false
  #hasYielded = false
  /** Since it last yielded. */
  #deliveries = 0

  /** @param onData returns whether the chunk is released */
  constructor(socket: Socket, onData: (chunk: Buffer) => boolean) {
    this.socket = socket
    this.#onData = onData
  }

  /** @returns whether the socket continues reading */
  deliver(chunk: Buffer): boolean {
    if (++this.#deliveries >= deliveriesPerTurnMax) this.yieldTurn()
    if (this.#onData(chunk)) releaseBuffer(chunk)
    this.#isStopped = this.#isPaused || this.#hasYielded
    return !this.#isStopped
  }

  /** Data that has been read is still delivered: at most one chunk. */
  pause(): void {
    this.#isPaused = true
  }

  /** Pauses until the next turn of the event loop, so that other connections are served. */
  yieldTurn(): void {
    if (this.#hasYielded) return
    this.#hasYielded = true
    this.#deliveries = 0
    setImmediate(() => {
      this.#hasYielded = false
      if (!this.#isPaused) this.resume()
    })
  }

  /** Stops delivering: a socket with a new owner would otherwise keep the previous one alive. */
  protected stopDelivering(): void {
    this.#onData = () => false
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#isStopped || this.#hasYielded) return
    this.#isStopped = false
    if (!this.socket.destroyed) this.socket._read(readSize)
  }
}

/**
 * Delivers what a socket receives as it arrives, bypassing the stream's buffer and events, which cost as much as the
 * read itself. If possible, the socket reads into memory that all sockets share: a new buffer for each read makes the
 * pauses of garbage collection three times as long. The end, errors and writes remain with the stream.
 */
export class DirectSocketReader extends SocketReader {
  readonly #isShared: boolean
  #isReleased = false

  /**
   * To be created before anything else reads from the socket.
   * @param onData gets chunks that are valid until it returns (see `ownedCopy`); returns whether the chunk is released
   */
  constructor(socket: Socket, onData: (chunk: Buffer) => boolean) {
    super(socket, onData)
    this.#isShared = readIntoSharedBuffer(socket, this.#onRead)
    if (!this.#isShared) this.#overridePush()
    // Without this there would be no `end` event.
    socket.resume()
  }

  /** Turns the socket back into an ordinary stream. */
  release(): void {
    this.#isReleased = true
    this.stopDelivering()
    // The cast is sound: this deletes the `push` that was set below, which uncovers the prototype's.
    if (!this.#isShared) delete (this.socket as { push?: unknown }).push
    this.resume()
  }

  readonly #onRead = (length: number): boolean => {
    const chunk = receivedChunk(length)
    return this.#isReleased ? this.socket.push(ownedCopy(chunk)) : this.deliver(chunk)
  }

  #overridePush(): void {
    const { socket } = this
    const { push } = socket
    // The stream's source calls this for each chunk (Readable.push), and continues reading if it returns true.
    socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) =>
      chunk === null ? push.call(socket, chunk, encoding) : this.deliver(chunk)
  }
}

/**
 * Like DirectSocketReader, but for a socket that has yet to be created: it reads into the shared memory from the start.
 * Such a socket cannot be handed over.
 */
export class PooledSocketReader {
  /** The option that the socket has to be created with (net.connect). */
  readonly onread: OnReadOpts = {
    buffer: sharedBuffer,
    callback: (length) => this.#flow?.deliver(receivedChunk(length)) ?? false,
  }
  #flow: SocketReader | undefined

  /** To be called before anything can have arrived. @param onData returns whether the chunk is released */
  attach(socket: Socket, onData: (chunk: Buffer) => boolean): SocketReader {
    this.#flow = new SocketReader(socket, onData)
    return this.#flow
  }
}

/** The size of a socket's usual read. All sockets share it: each delivers what it has read before another reads. */
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
function copyOfShared(length: number): Buffer {
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

/**
 * Makes a socket read into the shared memory, as the option `onread` of net.connect does. Accepted sockets do not have
 * that option, so the fields in which Node stores it are set here.
 * @param onRead gets the number of bytes read; returns whether the socket continues reading
 * @returns whether that is possible: not with TLS, nor with a Node version that stores it elsewhere
 */
export function readIntoSharedBuffer(socket: Socket, onRead: (length: number) => boolean): boolean {
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
