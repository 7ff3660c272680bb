import type { HpackEncoder } from '../hpack/encoder.ts'
import type { Sender } from './sender.ts'

/** The events of a stream; none follows onClose. */
export interface StreamEvents {
  /** The head of a response, interim or final: only in a stream that this side has opened. */
  onHead?(fields: string[], isWhole: boolean, isLast: boolean): void
  /** @param chunk valid until this returns */
  onData(chunk: Buffer): void
  /** Whether the data passed to onData is no longer in use. */
  isReleased(): boolean
  /** The peer's side has been read completely. @param trailers name, value, name, value */
  onEnd(trailers: readonly string[]): void
  /** More may be written. */
  onDrain(): void
  /** Everything written has been sent. */
  onEndSent?(): void
  /** The stream has ended on both sides, or was reset. @param code see errorCode */
  onClose(code: number): void
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
