import type { HpackEncoder } from '../hpack/encoder.ts'
import type { Sender } from './sender.ts'

/** What happens to a stream; nothing after onClose. */
export interface StreamEvents {
  /** The head of a response, final or not. */
  onHead(fields: string[], isWhole: boolean, isLast: boolean): void
  /** @param chunk valid until this returns */
  onData(chunk: Buffer): void
  /** Whether nothing of the data passed to onData is in use any more. */
  isReleased(): boolean
  /** All of the peer's side has been read. @param trailers name, value, name, value */
  onEnd(trailers: readonly string[]): void
  /** More may be written. */
  onDrain(): void
  /** All that was written has been sent. */
  onEndSent(): void
  /** The stream has ended on both sides, or was reset. @param code see errorCode */
  onClose(code: number, isByPeer: boolean): void
}

/** Writes the fields of a block. */
export type FieldWriter = (encoder: HpackEncoder) => void

/** A stream whose end is to be sent later. */
export interface HeldEnd {
  sendEnd(): void
}

/** The connection of a stream. */
export interface StreamConnection<Stream = never> {
  readonly sender: Sender
  readonly receiveWindow: number
  /** How often something was read. */
  readonly readNumber: number
  /** Streams whose ends are held back; undefined = they are sent. */
  readonly heldEnds: Set<HeldEnd> | undefined
  writeBlock(streamId: number, write: FieldWriter, isLast: boolean): void
  /** Ends the stream with its last data, or a frame without any. */
  writeEnd(streamId: number): void
  writeReset(streamId: number, code: number): void
  writeWindowUpdate(streamId: number, bytes: number): void
  /** What its peer did costs it a stream. @throws ConnectionError after too many */
  countWasted(): void
  onStreamClosed(stream: Stream): void
}
