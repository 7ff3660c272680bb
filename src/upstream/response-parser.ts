import type { ResponseFraming } from '../exchange/client-exchange.ts'
import { MalformedMessage } from '../exchange/malformed-message.ts'
import { ChunkedDecoder } from '../http1/chunked-decoder.ts'
import { MarkedLines, readFieldLines } from '../http1/field-lines.ts'
import { InvalidResponse } from './failure.ts'
import { type Framing, isWebSocket, readResponseFraming } from './response-framing.ts'
import {
  ParsedResponseHead,
  type ResponseHead,
  readStatusLine,
  responseNames,
  type StatusLine,
} from './response-head.ts'

/** The events of a parser. A head is followed by its data and one end; after a throw there are no more events. */
export interface ResponseEvents {
  /** Any 1xx except 101. */
  onInformation(head: ResponseHead): void
  onHead(head: ResponseHead, connection: ConnectionPersistence, framing: ResponseFraming): void
  onData(chunk: Buffer): void
  /** @param trailers name, value, name, value */
  onEnd(trailers: readonly string[]): void
  /** 101: what follows is no longer HTTP. */
  onUpgrade(head: ResponseHead, rest: Buffer): void
}

/** What the upstream says about its connection. */
export interface ConnectionPersistence {
  readonly isPersistent: boolean
  /** Whether a body may follow where none is allowed: the connection is not to be reused. absent = it may not */
  readonly mayHaveStrayBody?: boolean
  /** `Keep-Alive: timeout=…`; undefined = not sent. */
  readonly keepAliveMs: number | undefined
  /** Whether the upstream authenticates connections (see connection-auth.ts). absent = it does not say so */
  readonly bindsConnection?: boolean
}

const headBytesMax = 65_536
const cr = 0x0d
const lf = 0x0a

/** The marked lines of the head that is read at this moment, if it has arrived at once, as nearly all do. */
const sharedLines = new MarkedLines()

type State = 'head' | 'counted' | 'chunked' | 'until-close' | 'complete'

/**
 * Parses the response to one request (RFC 9112), strictly: a message that two parsers could understand differently is
 * rejected (bare LF, folded lines, two lengths, a length with chunks).
 */
export class ResponseParser {
  readonly #events: ResponseEvents
  readonly #isHead: boolean
  readonly #isUpgrade: boolean
  #state: State = 'head'
  /** What has arrived of an incomplete head; what is read of it, and where the rest begins. */
  #pending: Buffer | undefined
  #statusLine: StatusLine | undefined
  #marked = sharedLines
  #at = 0
  #remaining = 0
  #chunks: ChunkedDecoder | undefined

  constructor(events: ResponseEvents, request: { readonly method: string; readonly isUpgrade: boolean }) {
    this.#events = events
    this.#isHead = request.method === 'HEAD'
    this.#isUpgrade = request.isUpgrade
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
    if (this.#state === 'until-close') this.#end([])
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
        return nothing
      case 'complete':
        return chunk
      default:
        return this.#state satisfies never
    }
  }

  #readHead(chunk: Buffer): Buffer {
    const bytes = this.#pending ? Buffer.concat([this.#pending, chunk]) : chunk
    if (!this.#readLines(bytes)) {
      // Without the empty line at its end, and the one before that.
      if (bytes.length >= headBytesMax + 4) throw tooLarge()
      this.#keep(bytes)
      return nothing
    }
    if (this.#at - 2 > headBytesMax) throw tooLarge()
    return this.#acceptHead(bytes)
  }

  /** Reads on from where it stopped. @returns whether the head is complete */
  #readLines(bytes: Buffer): boolean {
    if (this.#statusLine === undefined) {
      this.#statusLine = readStatusLine(bytes)
      if (this.#statusLine === undefined) return false
      this.#at = this.#statusLine.end
      this.#marked = sharedLines
      sharedLines.clear()
    }
    const at = readFieldLines(bytes, this.#at, responseNames, this.#marked)
    if (at === -1) throw new InvalidResponse('a malformed header field')
    this.#at = at
    return bytes[at] === cr && bytes[at + 1] === lf
  }

  /** Copies what is incomplete: the fed chunk is valid only during the call. */
  #keep(bytes: Buffer): void {
    if (this.#statusLine && this.#marked === sharedLines) this.#marked = sharedLines.copy()
    this.#pending = this.#pending ? bytes : Buffer.from(bytes)
  }

  #acceptHead(bytes: Buffer): Buffer {
    const statusLine = this.#statusLine
    if (statusLine === undefined) return nothing
    const bodyAt = this.#at + 2
    const text = bytes.toString('latin1', 0, bodyAt)
    const rest = bodyAt === bytes.length ? nothing : bytes.subarray(bodyAt)
    const head = new ParsedResponseHead(statusLine, text, this.#marked)
    this.#pending = undefined
    this.#statusLine = undefined
    if (head.status === 101) return this.#acceptUpgrade(head, rest)
    if (head.status < 200) {
      this.#events.onInformation(head)
      return rest
    }
    return this.#acceptFinal(head, readResponseFraming(head.lines, statusLine.isHttp10), rest)
  }

  #acceptFinal(head: ResponseHead, framing: Readonly<Framing>, rest: Buffer): Buffer {
    this.#state = this.#bodyState(head.status, framing)
    this.#events.onHead(head, this.#persistenceOf(framing), this.#framingOf(this.#state, framing))
    if (this.#state === 'complete') this.#events.onEnd([])
    return rest
  }

  #acceptUpgrade(head: ResponseHead, rest: Buffer): Buffer {
    if (!this.#isUpgrade || !isWebSocket(head.headers))
      throw new InvalidResponse('unexpected 101 Switching Protocols')
    this.#state = 'complete'
    this.#events.onUpgrade(head, rest)
    return nothing
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

  /** Mostly what the framing says already: one object less for each response. */
  #persistenceOf(framing: Readonly<Framing>): ConnectionPersistence {
    if (this.#state === 'until-close') return { ...framing, isPersistent: false }
    return this.#mayHaveStrayBody(framing) ? { ...framing, mayHaveStrayBody: true } : framing
  }

  /**
   * Whether a body is announced where there is none (RFC 9112 6.3): several servers send it nevertheless after a HEAD
   * or a 304, in a packet of its own, which must not become the response to the next request.
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
    if (this.#remaining === 0) this.#end([])
    return data.length === chunk.length ? nothing : chunk.subarray(data.length)
  }

  #readChunked(chunk: Buffer): Buffer {
    const decoder = this.#chunks
    if (!decoder) throw new InvalidResponse('chunks without a decoder')
    const rest = decode(decoder, chunk)
    if (decoder.trailers) this.#end(decoder.trailers)
    return rest
  }

  #end(trailers: readonly string[]): void {
    this.#state = 'complete'
    this.#events.onEnd(trailers)
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

const nothing = Buffer.alloc(0)
