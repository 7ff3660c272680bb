import type { FrameOutput } from './frame-output.ts'
import {
  ConnectionError,
  errorCode,
  frameFlag,
  framePayloadMax,
  frameSizeError,
  frameType,
  protocolError,
  tooMany,
  uint31At,
} from './protocol.ts'

/** How many frames a field block may span, as each may be empty. */
const fragmentsMax = 64
const priorityBytes = 5

/** A field block whose last frame has arrived. */
export interface FieldBlock {
  readonly streamId: number
  /** Whether it ends its stream. */
  readonly isLast: boolean
  readonly bytes: Buffer
}

/** Joins a field block from HEADERS and CONTINUATION frames (RFC 9113 6.2, 6.10). */
export class BlockReader {
  readonly #bytesMax: () => number
  /** The stream with an unfinished block, during which no other frame is allowed. 0 = none. */
  openStreamId = 0
  #isLast = false
  #fragments: Buffer[] = []
  #bytes = 0

  /** @param bytesMax the maximum length of a block, called at each use */
  constructor(bytesMax: () => number) {
    this.#bytesMax = bytesMax
  }

  /**
   * @returns undefined = more is to come
   * @throws ConnectionError
   */
  readHeaders(flags: number, streamId: number, payload: Buffer): FieldBlock | undefined {
    if (streamId === 0) throw protocolError('HEADERS is not on a stream')
    const bytes = withoutExtras(flags, streamId, payload)
    this.#isLast = (flags & frameFlag.endStream) !== 0
    if ((flags & frameFlag.endHeaders) !== 0) return { streamId, isLast: this.#isLast, bytes }
    this.openStreamId = streamId
    this.#bytes = bytes.length
    this.#fragments = [Buffer.from(bytes)]
    return undefined
  }

  /** See readHeaders. */
  readContinuation(flags: number, streamId: number, payload: Buffer): FieldBlock | undefined {
    if (streamId === 0 || streamId !== this.openStreamId)
      throw protocolError('a CONTINUATION frame follows nothing')
    this.#bytes += payload.length
    this.#fragments.push(Buffer.from(payload))
    if (this.#bytes > this.#bytesMax() || this.#fragments.length > fragmentsMax)
      throw tooMany('a field block has no end')
    if ((flags & frameFlag.endHeaders) === 0) return undefined
    const bytes = Buffer.concat(this.#fragments)
    this.#fragments = []
    this.openStreamId = 0
    return { streamId, isLast: this.#isLast, bytes }
  }
}

/** The fragment in a HEADERS frame, without padding and priority, which is ignored (RFC 9113 5.3.2). */
function withoutExtras(flags: number, streamId: number, payload: Buffer): Buffer {
  if ((flags & (frameFlag.padded | frameFlag.priority)) === 0) return payload
  let start = 0
  let end = payload.length
  if ((flags & frameFlag.padded) !== 0) {
    if (payload.length === 0) throw frameSizeError('a padded HEADERS frame')
    start = 1
    end -= payload[0] ?? 0
  }
  if ((flags & frameFlag.priority) !== 0) {
    if (start + priorityBytes > payload.length) throw frameSizeError('a HEADERS frame with priority')
    assertOtherStream(streamId, uint31At(payload, start))
    start += priorityBytes
  }
  if (start > end) throw protocolError('the padding is longer than its frame')
  return payload.subarray(start, end)
}

/** A stream cannot depend on itself (RFC 7540 5.3.1). */
export function assertOtherStream(streamId: number, parent: number): void {
  if (streamId === parent) throw new ConnectionError(errorCode.protocolError, 'a stream depends on itself')
}

/** Writes a field block, in as many frames as necessary (RFC 9113 6.2, 6.10). */
export function writeFieldBlock(output: FrameOutput, streamId: number, block: Buffer, isLast: boolean): void {
  const ending = isLast ? frameFlag.endStream : 0
  if (block.length <= framePayloadMax) {
    output.frame(frameType.headers, ending | frameFlag.endHeaders, streamId, block)
    return
  }
  output.frame(frameType.headers, ending, streamId, block, 0, framePayloadMax)
  for (let at = framePayloadMax; at < block.length; at += framePayloadMax) {
    const end = Math.min(block.length, at + framePayloadMax)
    const flags = end === block.length ? frameFlag.endHeaders : 0
    output.frame(frameType.continuation, flags, streamId, block, at, end)
  }
}
