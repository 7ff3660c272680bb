import { digitsMax, parseDigits } from '../message/characters.ts'
import { ChunkExtensions, ChunkedDecoder } from '../message/chunked-decoder.ts'
import type { MarkedLines } from '../message/field-lines.ts'
import { framingNames, mark } from '../message/name-table.ts'
import { restOf } from '../read-memory.ts'
import { MalformedMessage, type RequestBody, type RequestHead } from '../request-head.ts'

export type RequestFraming = Pick<RequestHead, 'body' | 'isPersistent' | 'expectsContinue' | 'upgrade'>

interface FramingFields {
  contentLength: number | undefined
  isChunked: boolean
  closes: boolean
  keepsAlive: boolean
  upgrades: boolean
  expects: boolean
  upgrade: string | undefined
}

/** The fields that say something about the end of a request, or about its connection. */
const marksByName = new Map(
  framingNames
    .filter(({ mark: found }) => found >= mark.contentLength && found <= mark.upgrade)
    .map(({ name, mark: found }) => [name, found]),
)
const noBody: RequestBody = { kind: 'none', isEmpty: false }
const emptyBody: RequestBody = { kind: 'none', isEmpty: true }
const chunkedBody: RequestBody = { kind: 'chunked' }

/**
 * What the fields say about where a request ends, and about its connection. An ambiguous request is rejected: two
 * lengths, a length with chunks, a coding other than chunked, chunks in HTTP/1.0 (RFC 9112 6).
 * @param text the head that contains the lines
 * @throws MalformedMessage
 */
export function readMarkedFraming(
  { at, end }: MarkedLines,
  text: string,
  minorVersion: number,
): RequestFraming {
  let seen: FramingFields | undefined
  for (let index = 0; index < end; index += 5) {
    const found = at[index] ?? 0
    if (found < mark.contentLength || found > mark.upgrade) continue
    const start = at[index + 2] ?? 0
    const valueEnd = at[index + 3] ?? 0
    // Hot: compared in place, without a slice.
    const isKeepAlive = valueEnd - start === keepAlive.length && text.startsWith(keepAlive, start)
    if (found === mark.connection && isKeepAlive && minorVersion === 1) continue
    seen ??= nothingSeen()
    readField(seen, found, text.slice(start, valueEnd))
  }
  if (seen !== undefined) return framingOf(seen, minorVersion)
  return minorVersion === 1 ? plainFraming : plainHttp10Framing
}

/** The framing of a head whose lines the HTTP/1.1 parser has not marked. @throws MalformedMessage */
export function readRequestFraming(rawHeaders: readonly string[], minorVersion: number): RequestFraming {
  const seen = nothingSeen()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const found = marksByName.get(rawHeaders[index]?.toLowerCase() ?? '')
    if (found !== undefined) readField(seen, found, rawHeaders[index + 1] ?? '')
  }
  return framingOf(seen, minorVersion)
}

const keepAlive = 'keep-alive'
/** The framing of a request without any of these fields. */
const plainFraming: RequestFraming = {
  body: noBody,
  isPersistent: true,
  expectsContinue: false,
  upgrade: undefined,
}
const plainHttp10Framing: RequestFraming = { ...plainFraming, isPersistent: false }

function nothingSeen(): FramingFields {
  return {
    contentLength: undefined,
    isChunked: false,
    closes: false,
    keepsAlive: false,
    upgrades: false,
    expects: false,
    upgrade: undefined,
  }
}

function framingOf(seen: FramingFields, minorVersion: number): RequestFraming {
  if (seen.isChunked && seen.contentLength !== undefined) {
    throw new MalformedMessage('Content-Length', 'must not be sent together with Transfer-Encoding')
  }
  // RFC 9112 6.1: HTTP/1.0 does not define Transfer-Encoding.
  if (seen.isChunked && minorVersion === 0) {
    throw new MalformedMessage('Transfer-Encoding', 'is not defined in HTTP/1.0')
  }
  return {
    body: bodyOf(seen.contentLength, seen.isChunked),
    isPersistent: !seen.closes && (minorVersion === 1 || seen.keepsAlive),
    // An expectation of HTTP/1.0 is ignored (RFC 9110 10.1.1).
    expectsContinue: seen.expects && minorVersion === 1,
    upgrade: seen.upgrades && minorVersion === 1 ? seen.upgrade : undefined,
  }
}

/**
 * @param contentLength undefined = there is none
 * @param isChunked whether a body of unknown length follows
 */
export function bodyOf(contentLength: number | undefined, isChunked: boolean): RequestBody {
  if (isChunked) return chunkedBody
  if (contentLength === undefined) return noBody
  return contentLength === 0 ? emptyBody : { kind: 'counted', length: contentLength }
}

function readField(seen: FramingFields, found: number, value: string): void {
  switch (found) {
    case mark.contentLength:
      if (seen.contentLength !== undefined)
        throw new MalformedMessage('Content-Length', 'must be sent only once')
      seen.contentLength = parseContentLength(value)
      break
    case mark.transferEncoding:
      if (seen.isChunked || value.toLowerCase() !== 'chunked') {
        throw new MalformedMessage(
          'Transfer-Encoding',
          'must be exactly "chunked": no other transfer coding is supported',
        )
      }
      seen.isChunked = true
      break
    case mark.connection:
      readConnection(seen, value)
      break
    case mark.expect:
      seen.expects = true
      break
    case mark.upgrade:
      // Two Upgrade fields offer a choice of protocols, which matches none that is supported here.
      seen.upgrade =
        seen.upgrade === undefined ? value.toLowerCase() : `${seen.upgrade}, ${value.toLowerCase()}`
      break
  }
}

function readConnection(seen: FramingFields, value: string): void {
  if (value === keepAlive) {
    seen.keepsAlive = true
    return
  }
  for (const part of value.toLowerCase().split(',')) {
    const option = part.trim()
    if (option === 'close') seen.closes = true
    else if (option === keepAlive) seen.keepsAlive = true
    else if (option === 'upgrade') seen.upgrades = true
  }
}

/** @throws MalformedMessage */
export function parseContentLength(value: string): number {
  const length = parseDigits(value)
  if (length === undefined) throw new MalformedMessage('Content-Length', 'must be a number of bytes')
  if (value.length > digitsMax) {
    throw new MalformedMessage('Content-Length', `must have at most ${digitsMax} digits`)
  }
  return length
}

/** How many bytes of chunk extensions are allowed beyond the size of the body, as no other limit counts them. */
const extensionBytesMax = 16_384
const noTrailers: readonly string[] = []

/** Finds the end of a request's body in the bytes after its head (RFC 9112 6). */
export class BodyReader {
  readonly #chunks: ChunkedDecoder | undefined
  readonly #onData: (chunk: Buffer) => void
  #remaining: number

  constructor(body: RequestBody, onData: (chunk: Buffer) => void) {
    this.#onData = onData
    this.#chunks =
      body.kind === 'chunked' ? new ChunkedDecoder(onData, new ChunkExtensions(extensionBytesMax)) : undefined
    this.#remaining = body.kind === 'counted' ? body.length : 0
  }

  /** How many chunks the last read had. */
  get chunksRead(): number {
    return this.#chunks?.chunksRead ?? 0
  }

  /** How much is still to arrive; undefined = unknown. */
  get remaining(): number | undefined {
    return this.#chunks ? undefined : this.#remaining
  }

  /** Name, value, name, value of the trailer fields, once the body is complete. */
  get trailers(): readonly string[] | undefined {
    if (this.#chunks) return this.#chunks.trailers
    return this.#remaining === 0 ? noTrailers : undefined
  }

  /** @returns what came after the end. @throws MalformedMessage */
  feed(chunk: Buffer): Buffer {
    if (this.#chunks) return this.#chunks.feed(chunk)
    const data = chunk.length > this.#remaining ? chunk.subarray(0, this.#remaining) : chunk
    this.#remaining -= data.length
    this.#onData(data)
    return restOf(chunk, data.length)
  }
}
