import type { BodyTooSlow, HeadTooLarge, MalformedMessage } from './malformed-message.ts'

/** Why the client's input is not a request that can be handled. */
export type Unreadable = MalformedMessage | HeadTooLarge | 'timeout'

/** The handler of a request: it gets the body, and learns what happens to the client. */
export interface RequestEvents {
  /** Whether the response is written directly to the socket: then the connection must not write. */
  readonly writesToSocket?: boolean
  /** @param chunk valid until this returns: whatever keeps it makes a copy (see `ownedCopy`) */
  onBodyData(chunk: Buffer): void
  /** Whether every chunk passed to `onBodyData` has been released. */
  isChunkReleased(): boolean
  /** @param trailers name, value, name, value */
  onBodyEnd(trailers: readonly string[]): void
  /** The rest of the body cannot be read; the connection ends with the response. */
  onBodyError(error: MalformedMessage | BodyTooSlow): void
  /** More of the response may be written. */
  onClientDrain(): void
  /** The client disconnected before the whole response was sent. */
  onAbort(): void
}
