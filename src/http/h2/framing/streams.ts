import type { HpackEncoder } from '../hpack/encoder.ts'
import type { FrameOutput } from './frame-output.ts'
import { ConnectionError, errorCode, framePayloadMax, windowDefault, windowMax } from './protocol.ts'

/** The events of a stream; none follows onClose. */
export interface StreamEvents {
  /** The head of a response, interim or final. */
  onHead(fields: string[], isWhole: boolean, isLast: boolean): void
  /** @param chunk valid until this returns */
  onData(chunk: Buffer): void
  /** Whether the data passed to onData is no longer in use. */
  isReleased(): boolean
  /** The peer's side has been read completely. @param trailers name, value, name, value */
  onEnd(trailers: readonly string[]): void
  /** More may be written. */
  onDrain(): void
  /** Everything written has been sent. */
  onEndSent(): void
  /** The stream has ended on both sides, or was reset. @param code see errorCode */
  onClose(code: number, isByPeer: boolean): void
}

/** Writes the fields of a block. */
export type FieldWriter = (encoder: HpackEncoder) => void

/** A stream whose end is held back. */
export interface HeldEnd {
  sendEnd(): void
}

/** The connection of a stream. */
export interface StreamConnection<Stream = never> {
  readonly sender: Sender
  readonly receiveWindow: number
  /** The number of reads so far. */
  readonly readNumber: number
  /** Streams whose ends are held back; undefined = ends are sent. */
  readonly heldEnds: Set<HeldEnd> | undefined
  writeBlock(streamId: number, write: FieldWriter, isLast: boolean): void
  /** Ends the stream with its last data, or an empty frame. */
  writeEnd(streamId: number): void
  writeReset(streamId: number, code: number): void
  writeWindowUpdate(streamId: number, bytes: number): void
  /** Counts a stream that was lost because of the peer. @throws ConnectionError after too many */
  countWasted(): void
  onStreamClosed(stream: Stream): void
}

/** An entry, which is in one table at a time. */
export interface TableEntry<Entry> {
  /** The ID of a stream: odd or even, depending on who opened it. */
  readonly id: number
  /** The next in the same bucket. Only for the table. */
  nextInTable: Entry | undefined
}

const bucketsMin = 16

/**
 * The open streams of a connection by ID. Not a Map: one that changes with every request costs the garbage collector
 * more than anything else (see platform/deadline.ts). IDs are assigned in order, so that buckets fill evenly.
 */
export class StreamTable<Entry extends TableEntry<Entry>> {
  #buckets: (Entry | undefined)[] = new Array(bucketsMin).fill(undefined)
  #size = 0

  get size(): number {
    return this.#size
  }

  get(id: number): Entry | undefined {
    let entry = this.#buckets[this.#placeOf(id)]
    while (entry !== undefined && entry.id !== id) entry = entry.nextInTable
    return entry
  }

  /** @param entry is in no table */
  add(entry: Entry): void {
    if (++this.#size > this.#buckets.length) this.#grow()
    this.#link(entry)
  }

  /** Does nothing if it is not there. */
  remove(entry: Entry): void {
    const place = this.#placeOf(entry.id)
    let before: Entry | undefined
    let current = this.#buckets[place]
    while (current !== undefined && current !== entry) {
      before = current
      current = current.nextInTable
    }
    if (current === undefined) return
    if (before === undefined) this.#buckets[place] = entry.nextInTable
    else before.nextInTable = entry.nextInTable
    entry.nextInTable = undefined
    this.#size--
  }

  /** The entries at the time it begins. */
  *[Symbol.iterator](): Generator<Entry> {
    if (this.#size === 0) return
    const entries: Entry[] = []
    for (const first of this.#buckets)
      for (let entry = first; entry !== undefined; entry = entry.nextInTable) entries.push(entry)
    yield* entries
  }

  #placeOf(id: number): number {
    return (id >>> 1) & (this.#buckets.length - 1)
  }

  #link(entry: Entry): void {
    const place = this.#placeOf(entry.id)
    entry.nextInTable = this.#buckets[place]
    this.#buckets[place] = entry
  }

  #grow(): void {
    const entries = [...this]
    this.#buckets = new Array(2 * this.#buckets.length).fill(undefined)
    for (const entry of entries) this.#link(entry)
  }
}

/** How many streams that this side has reset are remembered at most, as the peer may not know yet. */
const resetMax = 1_000

/** Tells what a frame on a stream that is not open means. */
export class ClosedStreams {
  readonly #reset = new Set<number>()
  /** The last stream that the peer has opened, and how many it has opened. */
  lastPeerId = 0
  #opened = 0
  /** Later streams of the peer are ignored; see GOAWAY. */
  lastAccepted = Number.POSITIVE_INFINITY

  /** The peer opens a stream. */
  open(id: number): void {
    this.lastPeerId = id
    this.#opened++
  }

  /** Whether the peer has skipped streams, which it can never open (RFC 9113 5.1.1). */
  get hasSkipped(): boolean {
    return this.#opened !== (this.lastPeerId + 1) / 2
  }

  /** This side has reset a stream. */
  addReset(id: number): void {
    this.#reset.add(id)
    if (this.#reset.size <= resetMax) return
    const [oldest] = this.#reset
    if (oldest !== undefined) this.#reset.delete(oldest)
  }

  /** Whether further frames for a stream are ignored (RFC 9113 5.1). */
  isIgnored(id: number): boolean {
    return id > this.lastAccepted || this.#reset.has(id)
  }
}

/** A stream that has data to send. */
export interface SendingStream {
  readonly id: number
  /** The window that the peer grants it (RFC 9113 6.9); negative if the peer has reduced it. */
  sendWindow: number
  /** Sends some of the waiting data, at most 64 KiB. @returns whether more could be sent */
  sendWaiting(): boolean
  /** The socket has drained, which the stream has waited for with nothing to send. */
  onSocketDrain(): void
}

/** Sends the data of all streams of a connection, in turn, as far as the peer and the socket accept it. */
export class Sender {
  readonly #output: FrameOutput
  /** Streams that wait for others, the connection's window or the socket; not those whose own window is used up. */
  readonly #waiting = new Set<SendingStream>()
  /** Streams to be told once the socket has drained, as what they sent is not subject to flow control. */
  readonly #paused = new Set<SendingStream>()
  #window = windowDefault

  constructor(output: FrameOutput) {
    this.#output = output
  }

  /** @returns how many bytes were sent, which the stream counts itself */
  send(stream: SendingStream, bytes: Buffer): number {
    const output = this.#output
    let at = 0
    while (at < bytes.length && !output.isBlocked) {
      const size = Math.min(bytes.length - at, framePayloadMax, stream.sendWindow, this.#window)
      if (size <= 0) break
      output.data(stream.id, bytes, at, at + size)
      stream.sendWindow -= size
      this.#window -= size
      at += size
    }
    return at
  }

  /** Whether a stream may send without waiting for its turn. */
  get isFree(): boolean {
    return this.#waiting.size === 0
  }

  /** The stream has data that could not be sent. */
  wait(stream: SendingStream): void {
    if (stream.sendWindow > 0) this.#waiting.add(stream)
  }

  forget(stream: SendingStream): void {
    this.#waiting.delete(stream)
    if (this.#paused.size > 0) this.#paused.delete(stream)
  }

  /** @returns false if a stream should send no more until `onSocketDrain` */
  takesMore(stream: SendingStream): boolean {
    if (this.#output.isBlocked) this.#paused.add(stream)
    return !this.#output.isBlocked
  }

  /** The socket has drained. */
  onDrain(): void {
    this.pump()
    for (const stream of this.#paused) {
      if (this.#output.isBlocked) return
      this.#paused.delete(stream)
      stream.onSocketDrain()
    }
  }

  /** @throws ConnectionError */
  widen(bytes: number): void {
    if (this.#window + bytes > windowMax)
      throw new ConnectionError(errorCode.flowControlError, 'the window of the connection is too large')
    this.#window += bytes
    this.pump()
  }

  /** Sends waiting data, some of each stream in turn. */
  pump(): void {
    for (const stream of this.#waiting) {
      if (this.#output.isBlocked || this.#window <= 0) return
      this.#waiting.delete(stream)
      // Adding it again puts it behind the others in this same loop.
      if (stream.sendWaiting()) this.#waiting.add(stream)
    }
  }
}
