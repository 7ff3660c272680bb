import {
  fieldsOf,
  type IsKept,
  keptLines,
  type MarkedLines,
  type MarkedText,
} from '../message/field-lines.ts'
import type { NameTable } from '../message/name-table.ts'
import type { RequestBody, RequestHead } from '../request-head.ts'
import type { RequestFraming } from './request-framing.ts'

/** What the start of a request says. */
export type RequestStart = Pick<MarkedHead, 'method' | 'target' | 'hasPlainTarget' | 'minorVersion'>

/**
 * A request head whose fields are marked by a table of their names, so that most of them can be forwarded without being
 * looked at. Its members are only declared (hot): V8 does not inline the constructor of a class that defines any into
 * that of another.
 */
export abstract class MarkedHead implements RequestHead {
  declare readonly method: string
  declare readonly target: string
  /**
   * Whether the target is a path that all servers read alike: it begins with a slash, and has no query, escapes,
   * parameters, empty segments, backslashes, or segments that begin with a dot.
   */
  declare readonly hasPlainTarget: boolean
  declare readonly minorVersion: number
  declare readonly body: RequestBody
  declare readonly isPersistent: boolean
  declare readonly expectsContinue: boolean
  declare readonly upgrade: string | undefined
  /** The table that the fields are marked by. */
  declare readonly names: NameTable

  constructor(start: RequestStart, framing: RequestFraming, names: NameTable) {
    this.method = start.method
    this.target = start.target
    this.hasPlainTarget = start.hasPlainTarget
    this.minorVersion = start.minorVersion
    this.body = framing.body
    this.isPersistent = framing.isPersistent
    this.expectsContinue = framing.expectsContinue
    this.upgrade = framing.upgrade
    this.names = names
  }

  abstract readonly rawHeaders: readonly string[]

  /** In the form of HTTP/1.1, ended by CR LF. */
  abstract readonly requestLine: string

  /**
   * The field lines without the marked ones that are not kept, each ended by CR LF; undefined = `isKept` says so, or
   * the fields cannot be forwarded as they are.
   */
  abstract keptLines(isKept: IsKept): string | undefined
}

/** A head of HTTP/1.1. Its fields are sliced from its text on demand. */
export class ParsedHead extends MarkedHead implements MarkedText {
  /** In Latin-1, with the request line and the empty line at its end. */
  readonly text: string
  readonly fieldsStart: number
  /** Its marked lines: valid until another head is parsed. */
  readonly marked: MarkedLines
  #rawHeaders: readonly string[] | undefined

  constructor(
    start: RequestStart,
    framing: RequestFraming,
    names: NameTable,
    { text, fieldsStart, marked }: Pick<MarkedText, 'text' | 'fieldsStart' | 'marked'>,
  ) {
    super(start, framing, names)
    this.text = text
    this.fieldsStart = fieldsStart
    this.marked = marked
    this.#rawHeaders = undefined
  }

  get fieldsEnd(): number {
    return this.text.length - 2
  }

  get rawHeaders(): readonly string[] {
    this.#rawHeaders ??= fieldsOf(this.text, this.fieldsStart, this.fieldsEnd)
    return this.#rawHeaders
  }

  get requestLine(): string {
    return this.text.slice(0, this.fieldsStart)
  }

  /** Valid until another head is parsed. */
  keptLines(isKept: IsKept): string | undefined {
    return keptLines(this, isKept)
  }
}

/** A head whose fields arrived decoded, as those of HTTP/2 do. */
export class DecodedHead extends MarkedHead {
  readonly rawHeaders: readonly string[]

  constructor(start: RequestStart, framing: RequestFraming, names: NameTable, rawHeaders: readonly string[]) {
    super(start, framing, names)
    this.rawHeaders = rawHeaders
  }

  get requestLine(): string {
    return `${this.method} ${this.target} HTTP/1.1\r\n`
  }

  keptLines(isKept: IsKept): string | undefined {
    const { rawHeaders, names } = this
    let lines = ''
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] ?? ''
      const value = rawHeaders[index + 1] ?? ''
      const mark = names.markOf(name)
      const verdict = mark === 0 || isKept(value, mark, 0, value.length)
      if (verdict === undefined) return undefined
      if (verdict) lines += `${name}: ${value}\r\n`
    }
    return lines
  }
}
