import type { HpackEncoder } from '../hpack/encoder.ts'
import type { Sender } from './sender.ts'

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

/** How many of the streams that this side has reset are remembered: the peer may send more before it knows. */
const resetMax = 1_000

/** Decides what a frame means that arrives on a stream that is not open. */
export class ClosedStreams {
  readonly #reset = new Set<number>()
  /** The last stream that the peer has opened, and how many it has opened. */
  lastPeerId = 0
  #opened = 0
  /** After a GOAWAY, later streams of the peer are ignored. */
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
