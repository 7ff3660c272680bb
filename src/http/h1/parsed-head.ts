import type { RequestBody, RequestHead } from '../exchange/request-head.ts'
import { fieldsOf, type MarkedLines, type MarkedText } from './field-lines.ts'
import type { NameTable } from './name-table.ts'
import type { RequestFraming } from './request-framing.ts'

/** A request head of HTTP/1.1. Its fields are sliced from its text on demand. */
export class ParsedHead implements RequestHead, MarkedText {
  /** In Latin-1, with the request line and the empty line at its end. */
  readonly text: string
  /** The index of its field lines. */
  readonly fieldsStart: number
  readonly method: string
  readonly target: string
  /**
   * Whether the target is a path that all servers read alike: it begins with a slash, and has no query, escapes,
   * parameters, empty segments, backslashes, or segments that begin with a dot.
   */
  readonly hasPlainTarget: boolean
  readonly minorVersion: number
  readonly body: RequestBody
  readonly isPersistent: boolean
  readonly expectsContinue: boolean
  readonly upgrade: string | undefined
  /** Its marked lines: valid until another head is parsed. */
  readonly marked: MarkedLines
  /** The table that they are marked by. */
  readonly names: NameTable
  #rawHeaders: readonly string[] | undefined

  constructor(
    text: string,
    fieldsStart: number,
    line: Pick<ParsedHead, 'method' | 'target' | 'hasPlainTarget' | 'minorVersion'>,
    framing: RequestFraming,
    { marked, names }: { readonly marked: MarkedLines; readonly names: NameTable },
  ) {
    this.text = text
    this.fieldsStart = fieldsStart
    this.method = line.method
    this.target = line.target
    this.hasPlainTarget = line.hasPlainTarget
    this.minorVersion = line.minorVersion
    this.body = framing.body
    this.isPersistent = framing.isPersistent
    this.expectsContinue = framing.expectsContinue
    this.upgrade = framing.upgrade
    this.marked = marked
    this.names = names
    this.#rawHeaders = undefined
  }

  get fieldsEnd(): number {
    return this.text.length - 2
  }

  get rawHeaders(): readonly string[] {
    this.#rawHeaders ??= fieldsOf(this.text, this.fieldsStart, this.fieldsEnd)
    return this.#rawHeaders
  }
}
