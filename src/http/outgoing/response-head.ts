import type { ResponseFraming } from '../client-exchange.ts'
import { valueCharacters } from '../message/characters.ts'
import { fieldsOf, type MarkedLines, type MarkedText } from '../message/field-lines.ts'
import { headBlock, skip } from '../message/head-bytes.ts'
import { firstOwnMark, type MarkedName, mark, NameTable } from '../message/name-table.ts'
import { InvalidResponse } from './failure.ts'

/** The head of a response, as received. */
export interface ResponseHead {
  readonly status: number
  readonly reason: string
  /** Name, value, name, value: in the received order and case. */
  readonly headers: readonly string[]
  /** The lines that were marked during parsing: valid until the event ends. undefined = an HTTP/2 response. */
  readonly lines?: MarkedText | undefined
}

/**
 * Marks of response fields that are not simply forwarded, in addition to those that determine where a response ends.
 */
export const responseMark = {
  /** Hop-by-hop, or replaced. */
  dropped: firstOwnMark,
  date: firstOwnMark + 1,
  contentType: firstOwnMark + 2,
  /** `Cache-Control`, `Expires` and `Pragma`: what the backend says about caching. */
  caching: firstOwnMark + 3,
  vary: firstOwnMark + 4,
  setCookie: firstOwnMark + 5,
  trailer: firstOwnMark + 6,
  /** Rewritten, or withheld. */
  special: firstOwnMark + 7,
  /** May authenticate the connection. */
  challenge: firstOwnMark + 8,
  /** It may name paths and URLs of the backend. */
  link: firstOwnMark + 9,
  /** `Access-Control-…` */
  cors: firstOwnMark + 10,
} as const

const { contentLength, transferEncoding, connection, keepAlive } = mark
const named = (found: number, ...names: readonly string[]) => names.map((name) => ({ name, mark: found }))

export const responseNames: NameTable = new NameTable([
  ...named(contentLength, 'content-length'),
  ...named(transferEncoding, 'transfer-encoding'),
  ...named(connection, 'connection'),
  ...named(keepAlive, 'keep-alive'),
  ...named(responseMark.challenge, 'www-authenticate', 'proxy-authenticate'),
  ...named(responseMark.dropped, 'proxy-connection', 'te', 'upgrade', 'x-request-id'),
  ...named(responseMark.date, 'date'),
  ...named(responseMark.contentType, 'content-type'),
  ...named(responseMark.caching, 'cache-control', 'expires', 'pragma'),
  ...named(responseMark.vary, 'vary'),
  ...named(responseMark.setCookie, 'set-cookie'),
  ...named(responseMark.trailer, 'trailer'),
  ...named(responseMark.special, 'location', 'content-location', 'refresh', 'service-worker-allowed'),
  ...named(responseMark.link, 'link'),
  { name: 'accesscontrol', mark: responseMark.cors, isPrefix: true },
] satisfies readonly MarkedName[])

/** A head of HTTP/1.1. Its fields are sliced from its text once somebody asks for all of them. */
export class ParsedResponseHead implements ResponseHead, MarkedText {
  readonly status: number
  readonly reason: string
  readonly text: string
  readonly fieldsStart: number
  readonly fieldsEnd: number
  readonly marked: MarkedLines
  #headers: readonly string[] | undefined = undefined

  /** @param end index in the text at which the head ends */
  constructor(line: StatusLine, text: string, end: number, marked: MarkedLines) {
    this.status = line.status
    this.reason = reasonOf(text, line)
    this.text = text
    this.fieldsStart = line.end
    this.fieldsEnd = end - 2
    this.marked = marked
  }

  get lines(): MarkedText {
    return this
  }

  get headers(): readonly string[] {
    this.#headers ??= fieldsOf(this.text, this.fieldsStart, this.fieldsEnd)
    return this.#headers
  }
}

/** One shared string for nearly all responses. */
function reasonOf(text: string, { status, reasonStart, end }: StatusLine): string {
  if (status === 200 && end - reasonStart === 4 && text.startsWith('OK', reasonStart)) return 'OK'
  return reasonStart < end - 2 ? text.slice(reasonStart, end - 2) : ''
}

export interface StatusLine {
  readonly status: number
  readonly isHttp10: boolean
  readonly reasonStart: number
  /** The index after its LF. */
  readonly end: number
}

const versionPrefix = Buffer.from('HTTP/1.')
/** The index of the minor version in a status line. */
const versionAt = versionPrefix.length
/** The index of the status, and of the byte after it, which shows whether a reason follows. */
const statusAt = 9
const statusEnd = 12
const lf = 0x0a
const cr = 0x0d
const space = 0x20
const zero = 0x30

/**
 * Reads the status line in the head block (RFC 9112 4): HTTP/1.1 or HTTP/1.0, one space, three digits; then a space and
 * a reason, or nothing.
 * @returns undefined if it is incomplete
 * @throws InvalidResponse as soon as it cannot become one
 */
export function readStatusLine(): StatusLine | undefined {
  const { bytes, length } = headBlock
  for (let at = 0; at < versionAt; at++) {
    if (at === length) return undefined
    if (bytes[at] !== versionPrefix[at]) throw notHttp()
  }
  const end = skip(versionAt, valueCharacters)
  if (end === length || (bytes[end] === cr && end + 1 === length)) return undefined
  const minorVersion = (bytes[versionAt] ?? 0) - zero
  const status = numberAt(bytes, statusAt)
  if (
    bytes[end] !== cr ||
    bytes[end + 1] !== lf ||
    end < statusEnd ||
    (minorVersion !== 0 && minorVersion !== 1) ||
    bytes[versionAt + 1] !== space ||
    status < 100 ||
    (end > statusEnd && bytes[statusEnd] !== space)
  )
    throw notHttp()
  return { status, isHttp10: minorVersion === 0, reasonStart: statusEnd + 1, end: end + 2 }
}

/** The number of three digits; -1 = not all of them are digits. */
function numberAt(bytes: Uint8Array, from: number): number {
  let number = 0
  for (let at = from; at < from + 3; at++) {
    const digit = (bytes[at] ?? 0) - zero
    if (digit < 0 || digit > 9) return -1
    number = number * 10 + digit
  }
  return number
}

function notHttp(): InvalidResponse {
  return new InvalidResponse('no HTTP/1.1 status line')
}

/** The events of a parser. A head is followed by its data and one end; after a throw there are no more events. */
export interface ResponseEvents {
  /** Any 1xx except 101. */
  onInformation(head: ResponseHead): void
  onHead(head: ResponseHead, connection: ConnectionPersistence, framing: ResponseFraming): void
  onData(chunk: Buffer): void
  /**
   * @param trailers name, value, name, value
   * @param last the rest of a counted body, in Latin-1; absent = all of it was data
   */
  onEnd(trailers: readonly string[], last?: string): void
  /** 101: what follows is no longer HTTP. */
  onUpgrade(head: ResponseHead, rest: Buffer): void
}

/** What the upstream says about reuse of its connection. */
export interface ConnectionPersistence {
  readonly isPersistent: boolean
  /** Whether a body may follow where none is allowed, so that the connection must not be reused. absent = it may not */
  readonly mayHaveStrayBody?: boolean
  /** `Keep-Alive: timeout=…`; undefined = not sent. */
  readonly keepAliveMs: number | undefined
  /** Whether the upstream authenticates connections (see bindsConnection). absent = it does not, or has not said so */
  readonly bindsConnection?: boolean
}
