import { type OnReadOpts, Socket } from 'node:net'
import { copyOfShared, ownedCopy, receivedChunk, releaseBuffer, sharedBuffer } from './read-memory.ts'
import { type DeferredReceiver, deferredBytesMax, type ReadQueue } from './read-queue.ts'
import { readIntoSharedBuffer } from './socket-handle.ts'
import { deliverReads, requests, responses, scheduleTurnEnd } from './turn.ts'

/** The size of a read; Node only checks whether it is 0. */
const readSize = 65_536

/**
 * After this many chunks a connection yields to others. Over TLS each record is a chunk, and may have a single byte: a
 * client could keep the event loop for as long as it sends.
 */
export const deliveriesPerTurnMax = 256

/** The part of a socket that is read from. */
type Source = Pick<Socket, 'destroyed' | '_read' | 'push'>

/** A connection that reads into the shared memory without a stream. */
interface SharedSource extends Source {
  /** @param onRead gets the number of bytes read; returns whether it continues reading */
  startReading(onRead: (length: number) => boolean): void
}

/** Small data is delivered at the end of the turn of the event loop, once that of all connections was read. */
interface Deferral {
  readonly queue: ReadQueue
  /** Called for each read. */
  mayDefer(): boolean
}

/** Delivers what a socket receives, and continues after `resume`. */
export class SocketReader implements DeferredReceiver {
  protected readonly socket: Source
  /** undefined = nothing waits for the end of the turn. */
  #deferral: Deferral | undefined
  /** Whether data waits there: no more than one read. */
  #isWaiting = false
  #onData: (chunk: Buffer) => boolean
  #isPaused = false
  #isStopped = false
  #hasYielded = false
  /** Since it last yielded. */
  #deliveries = 0

  /** @param onData returns whether the chunk is released */
  constructor(socket: Source, onData: (chunk: Buffer) => boolean, deferral?: Deferral) {
    this.socket = socket
    this.#onData = onData
    this.#deferral = deferral
  }

  /**
   * Data has been read into the shared memory.
   * @returns whether the socket continues reading
   */
  receive(length: number): boolean {
    if (this.#isWaiting) return this.#deliverAfterDeferred(length)
    if (!this.#defer(length)) return this.deliver(receivedChunk(length))
    this.#isWaiting = true
    scheduleTurnEnd()
    return true
  }

  #defer(length: number): boolean {
    const deferral = this.#deferral
    if (deferral === undefined || length > deferredBytesMax || this.#isPaused || this.#hasYielded)
      return false
    return deferral.mayDefer() && deferral.queue.add(this, length)
  }

  receiveDeferred(length: number): void {
    this.#isWaiting = false
    this.deliver(receivedChunk(length))
  }

  /** Delivers what was read before: to be called before any other event of the socket is handled. */
  deliverDeferred(): void {
    if (this.#isWaiting) deliverReads()
  }

  #deliverAfterDeferred(length: number): boolean {
    // A copy, as what came first is delivered in the same memory.
    const chunk = copyOfShared(length)
    deliverReads()
    return this.deliver(chunk)
  }

  /** @returns whether the socket continues reading */
  protected deliver(chunk: Buffer): boolean {
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

  /**
   * Stops delivering: a socket with a new owner would otherwise keep the previous one alive. What is read from now on
   * does not wait, so that its end cannot overtake it.
   */
  protected stopDelivering(): void {
    this.#onData = () => false
    this.#deferral = undefined
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#isStopped || this.#hasYielded) return
    this.#isStopped = false
    if (!this.socket.destroyed) this.socket._read(readSize)
  }
}

/**
 * Delivers what a socket receives, bypassing the stream's buffer and events, which cost as much as the read itself. If
 * possible, the socket reads into memory that all sockets share: a new buffer for each read makes the pauses of garbage
 * collection three times as long. The end, errors and writes remain with the stream.
 */
export class DirectSocketReader extends SocketReader {
  #isReleased = false

  /**
   * To be created before anything else reads from the socket.
   * @param onData gets chunks that are valid until it returns (see `ownedCopy`); returns whether the chunk is released
   * @param mayDefer whether small chunks are delivered at the end of the turn (see `deliverDeferred`); not over TLS
   */
  constructor(socket: Socket | SharedSource, onData: (chunk: Buffer) => boolean, mayDefer = false) {
    super(socket, onData, mayDefer ? ofRequests : undefined)
    const receive = (length: number) => this.receive(length)
    if (socket instanceof Socket) {
      readIntoSharedBuffer(socket, receive)
      // For a socket that cannot, and for what a former reader has still to deliver.
      this.#overridePush(socket)
      // Without this there would be no `end` event.
      socket.resume()
    } else socket.startReading(receive)
  }

  /** Turns the socket back into an ordinary stream. */
  release(): void {
    this.#isReleased = true
    this.stopDelivering()
    // The cast is sound: this deletes the `push` that was set below, if any, which uncovers the prototype's.
    delete (this.socket as { push?: unknown }).push
    this.resume()
  }

  protected override deliver(chunk: Buffer): boolean {
    return this.#isReleased ? this.socket.push(ownedCopy(chunk)) : super.deliver(chunk)
  }

  #overridePush(socket: Socket): void {
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
    callback: (length) => this.#flow?.receive(length) ?? false,
  }
  #flow: SocketReader | undefined

  /**
   * To be called before anything can have arrived.
   * @param onData returns whether the chunk is released
   * @param mayDefer whether data that was read now may be delivered at the end of the turn (see `deliverDeferred`)
   */
  attach(socket: Socket, onData: (chunk: Buffer) => boolean, mayDefer = () => false): SocketReader {
    this.#flow = new SocketReader(socket, onData, { queue: responses, mayDefer })
    return this.#flow
  }
}

const ofRequests: Deferral = { queue: requests, mayDefer: () => true }
