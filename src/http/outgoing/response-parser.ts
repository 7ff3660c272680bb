import type { ResponseFraming } from '../client-exchange.ts'
import { ChunkedDecoder } from '../message/chunked-decoder.ts'
import { MarkedLines, readFieldLines } from '../message/field-lines.ts'
import { headBlock } from '../message/head-bytes.ts'
import { PartialHead } from '../message/kept-bytes.ts'
import { noBytes, restOf } from '../read-memory.ts'
import { MalformedMessage } from '../request-head.ts'
import { InvalidResponse } from './failure.ts'
import { type Framing, isWebSocket, readResponseFraming } from './response-framing.ts'
import {
  type ConnectionPersistence,
  ParsedResponseHead,
  type ResponseEvents,
  type ResponseHead,
  readStatusLine,
  responseNames,
  type StatusLine,
} from './response-head.ts'

const headBytesMax = 65_536
const cr = 0x0d

/** A body that arrives with its head is passed on as text, like the head, up to this size. */
const textBytesMax = 4_096
const noTrailers: readonly string[] = []

/** The marked lines of a head that arrived all at once, as nearly all do, while it is parsed. */
const sharedLines = new MarkedLines()

type State = 'head' | 'counted' | 'chunked' | 'until-close' | 'complete'

/**
 * Parses one response after another (RFC 9112), strictly: a message that two parsers could understand differently is
 * rejected (bare LF, folded lines, two lengths, a length with chunks).
 */
export class ResponseParser {
  readonly #events: ResponseEvents
  #isHead = false
  #isUpgrade = false
  #state: State = 'complete'
  /** The received part of an incomplete head; what of it has been parsed, and where the rest begins. */
  #pending: PartialHead | undefined
  #statusLine: StatusLine | undefined
  #marked = sharedLines
  #at = 0
  #remaining = 0
  #chunks: ChunkedDecoder | undefined

  constructor(events: ResponseEvents) {
    this.#events = events
  }

  /** The next response belongs to this request. */
  begin({ method, isUpgrade }: { readonly method: string; readonly isUpgrade: boolean }): void {
    this.#isHead = method === 'HEAD'
    this.#isUpgrade = isUpgrade
    this.#state = 'head'
    this.#pending = undefined
    this.#statusLine = undefined
    this.#chunks = undefined
  }

  /** How many chunks the last read had. */
  get chunksRead(): number {
    return this.#chunks?.chunksRead ?? 0
  }

  get isComplete(): boolean {
    return this.#state === 'complete'
  }

  /**
   * Parses a chunk, without keeping any part of it.
   * @returns what came after the end of the response.
   * @throws InvalidResponse
   */
  feed(chunk: Buffer): Buffer {
    let rest = chunk
    while (rest.length > 0 && this.#state !== 'complete') rest = this.#step(rest)
    return rest
  }

  /** The upstream has ended its output. @throws InvalidResponse where the response is incomplete */
  finish(): void {
    if (this.#state === 'until-close') this.#end()
    if (this.#state !== 'complete') throw new InvalidResponse('closed before the end of the response')
  }

  #step(chunk: Buffer): Buffer {
    switch (this.#state) {
      case 'head':
        return this.#readHead(chunk)
      case 'counted':
        return this.#readCounted(chunk)
      case 'chunked':
        return this.#readChunked(chunk)
      case 'until-close':
        this.#events.onData(chunk)
        return noBytes
      case 'complete':
        return chunk
      default:
        return this.#state satisfies never
    }
  }

  #readHead(chunk: Buffer): Buffer {
    const bytes = this.#pending ? this.#pending.addPiece(chunk, headBytesMax + 4) : chunk
    if (bytes === undefined) return noBytes
    headBlock.load(bytes.length <= headBytesMax + 4 ? bytes : bytes.subarray(0, headBytesMax + 4))
    const line = this.#statusLine ?? readStatusLine()
    const at = line && this.#readLines(line)
    if (line === undefined || at === undefined) {
      // The maximum counts neither the last line break nor the empty line.
      if (bytes.length >= headBytesMax + 4) throw tooLarge()
      this.#keep(bytes, line)
      return noBytes
    }
    if (at - 2 > headBytesMax) throw tooLarge()
    return this.#acceptHead(bytes, line, at + 2)
  }

  /** Continues parsing where it stopped. @returns the index of the empty line; undefined = the head is incomplete */
  #readLines({ end }: StatusLine): number | undefined {
    const isNew = this.#statusLine === undefined
    if (isNew) {
      this.#marked = sharedLines
      sharedLines.clear()
    }
    const { bytes, length } = headBlock
    const at = readFieldLines(isNew ? end : this.#at, responseNames, this.#marked)
    if (at === -1) throw new InvalidResponse('a malformed header field')
    this.#at = at
    return at + 1 < length && bytes[at] === cr ? at : undefined
  }

  /** Copies the incomplete part, as the fed chunk is only valid during the call. */
  #keep(bytes: Buffer, line: StatusLine | undefined): void {
    if (line && this.#marked === sharedLines) this.#marked = sharedLines.copy()
    this.#statusLine = line
    this.#pending ??= new PartialHead(Buffer.from(bytes))
  }

  #acceptHead(bytes: Buffer, line: StatusLine, bodyAt: number): Buffer {
    const isText = bytes.length - bodyAt <= textBytesMax
    const text = bytes.toString('latin1', 0, isText ? bytes.length : bodyAt)
    const head = new ParsedResponseHead(line, text, bodyAt, this.#marked)
    this.#pending = undefined
    this.#statusLine = undefined
    this.#marked = sharedLines
    if (head.status < 200) return this.#acceptInterim(head, restOf(bytes, bodyAt))
    const framing = readResponseFraming(head, line.isHttp10)
    this.#state = this.#bodyState(head.status, framing)
    this.#events.onHead(head, this.#persistenceOf(framing), this.#framingOf(this.#state, framing))
    if (this.#state === 'complete') this.#end()
    else if (isText && this.#state === 'counted' && bytes.length - bodyAt >= this.#remaining)
      return this.#endWithText(text, bytes, bodyAt)
    return restOf(bytes, bodyAt)
  }

  #acceptInterim(head: ResponseHead, rest: Buffer): Buffer {
    if (head.status === 101) return this.#acceptUpgrade(head, rest)
    this.#events.onInformation(head)
    return rest
  }

  /** All of its body has arrived with the head. */
  #endWithText(text: string, bytes: Buffer, bodyAt: number): Buffer {
    const end = bodyAt + this.#remaining
    this.#end(noTrailers, text.slice(bodyAt, end))
    return restOf(bytes, end)
  }

  #acceptUpgrade(head: ResponseHead, rest: Buffer): Buffer {
    if (!this.#isUpgrade || !isWebSocket(head.headers))
      throw new InvalidResponse('unexpected 101 Switching Protocols')
    this.#state = 'complete'
    this.#events.onUpgrade(head, rest)
    return noBytes
  }

  /** How the end of the body is found (RFC 9112 6.3). */
  #bodyState(status: number, { contentLength, isChunked }: Framing): State {
    if (this.#isHead || status === 204 || status === 304) return 'complete'
    if (isChunked) {
      this.#chunks = new ChunkedDecoder(this.#events.onData.bind(this.#events))
      return 'chunked'
    }
    if (contentLength === undefined) return 'until-close'
    this.#remaining = contentLength
    return contentLength === 0 ? 'complete' : 'counted'
  }

  /** Usually the framing itself, which saves one object per response. */
  #persistenceOf(framing: Readonly<Framing>): ConnectionPersistence {
    if (this.#state === 'until-close') return { ...framing, isPersistent: false }
    return this.#mayHaveStrayBody(framing) ? { ...framing, mayHaveStrayBody: true } : framing
  }

  /**
   * Whether a body is announced where there is none (RFC 9112 6.3): some servers nevertheless send it after a HEAD or a
   * 304, in a packet of its own, which must not become the response to the next request.
   */
  #mayHaveStrayBody({ contentLength, isChunked }: Framing): boolean {
    return this.#state === 'complete' && (isChunked || (contentLength ?? 0) > 0)
  }

  #framingOf(state: State, { contentLength }: Framing): ResponseFraming {
    if (state === 'chunked' || state === 'until-close') return state
    return state === 'counted' || (contentLength === 0 && !this.#isHead) ? 'counted' : 'none'
  }

  #readCounted(chunk: Buffer): Buffer {
    const data = chunk.length > this.#remaining ? chunk.subarray(0, this.#remaining) : chunk
    this.#remaining -= data.length
    this.#events.onData(data)
    if (this.#remaining === 0) this.#end()
    return restOf(chunk, data.length)
  }

  #readChunked(chunk: Buffer): Buffer {
    const decoder = this.#chunks
    if (!decoder) throw new Error('chunks without a decoder')
    const rest = decode(decoder, chunk)
    if (decoder.trailers) this.#end(decoder.trailers)
    return rest
  }

  #end(trailers = noTrailers, last?: string): void {
    this.#state = 'complete'
    this.#events.onEnd(trailers, last)
  }
}

/** @throws InvalidResponse */
function decode(decoder: ChunkedDecoder, chunk: Buffer): Buffer {
  try {
    return decoder.feed(chunk)
  } catch (error) {
    if (error instanceof MalformedMessage) throw new InvalidResponse(`a ${error.field} that ${error.message}`)
    throw error
  }
}

function tooLarge(): InvalidResponse {
  return new InvalidResponse('the response head is too large')
}
