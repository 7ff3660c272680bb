import { isToken } from './characters.ts'
import { readFieldLines } from './field-lines.ts'
import { readFraming } from './framing.ts'
import { HeadTooLarge, MalformedMessage } from './malformed.ts'
import type { RequestHead } from './request-head.ts'

const headEnd = '\r\n\r\n'
const requestLineForm = 'must be a method, a target and HTTP/1.1 or HTTP/1.0'

/**
 * Reads the heads of requests (RFC 9112), strictly: what two readers could take for different messages is
 * refused. However the bytes are cut, the outcome is the same. The request line is judged first, then the
 * fields in their order, then the size, then what the fields say together.
 */
export class RequestParser {
  readonly #bytesMax: number
  /** What has come of a head that is not whole yet; empty where nothing has. */
  #partial = ''
  /** Of the partial head: its lines up to here have been found to be well-formed. */
  #checked = 0
  /** Empty lines before it, in bytes: they count, too. */
  #skipped = 0
  /** Where in what was fed last the body begins, once there is a head. */
  end = 0

  /** @param bytesMax of a whole head, with the empty line at its end */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Whether a part of a head has come. */
  get isWithinHead(): boolean {
    return this.#partial !== ''
  }

  /**
   * @returns the head once it is whole; what follows in the chunk begins at `end`
   * @throws MalformedMessage, HeadTooLarge: nothing that follows can be read
   */
  feed(chunk: Buffer): RequestHead | undefined {
    const bytesMax = this.#bytesMax
    const before = this.#partial.length
    // No more than can be of use: a large body is not to be turned into text.
    const text = chunk.toString('latin1', 0, Math.min(chunk.length, bytesMax + headEnd.length))
    const all = before === 0 ? text : this.#partial + text
    const start = skipEmptyLines(all)
    const end = all.indexOf(headEnd, Math.max(start, before - headEnd.length))
    const bytes = end + headEnd.length
    if (end === -1 || this.#skipped + bytes > bytesMax) {
      this.#skipped += start
      this.#keep(start === 0 ? all : all.slice(start))
      return undefined
    }
    this.end = bytes - before
    this.#partial = ''
    this.#checked = 0
    this.#skipped = 0
    return parseHead(all, start, end)
  }

  /** Refuses at once what can no longer become a head: it would cost the whole time that a head may take. */
  #keep(all: string): void {
    const room = Math.max(0, this.#bytesMax - this.#skipped)
    const text = all.slice(0, room)
    if (this.#checked === 0) {
      const lineEnd = text.indexOf('\n')
      if (lineEnd === -1) checkPartOfRequestLine(text)
      else {
        parseRequestLine(text, 0, lineEnd - 1)
        this.#checked = lineEnd + 1
      }
    }
    if (this.#checked > 0) {
      this.#checked = readFieldLines(text, this.#checked, [])
      if (this.#checked === -1) throw malformedField()
    }
    if (all.length >= room) throw new HeadTooLarge()
    this.#partial = all
  }
}

/** Empty lines before a request are skipped (RFC 9112 2.2). */
function skipEmptyLines(text: string): number {
  let start = 0
  while (text.charCodeAt(start) === 0x0d && text.charCodeAt(start + 1) === 0x0a) start += 2
  return start
}

function parseHead(text: string, start: number, end: number): RequestHead {
  const lineEnd = text.indexOf('\r\n', start)
  const { method, target, minorVersion } = parseRequestLine(text, start, lineEnd)
  const rawHeaders: string[] = []
  if (lineEnd < end && readFieldLines(text, lineEnd + 2, rawHeaders) !== end + 2) throw malformedField()
  const { body, isPersistent, expectsContinue, upgrade } = readFraming(rawHeaders, minorVersion)
  return { method, target, minorVersion, rawHeaders, body, isPersistent, expectsContinue, upgrade }
}

/** RFC 9112 3: a method, one space, a target, one space, the version. @param end where the CR stands */
function parseRequestLine(text: string, start: number, end: number) {
  const methodEnd = text.indexOf(' ', start)
  const targetEnd = end - ' HTTP/1.1'.length
  const minorVersion = text.charCodeAt(end - 1) - 0x30
  const isVersion =
    text.startsWith(' HTTP/1.', targetEnd) &&
    (minorVersion === 0 || minorVersion === 1) &&
    methodEnd < targetEnd
  const method = text.slice(start, methodEnd)
  const target = text.slice(methodEnd + 1, targetEnd)
  // A CR alone is the end of a line to some, a space that of the target.
  if (!isVersion || text.charCodeAt(end) !== 0x0d || !isToken(method) || !isWhole(target)) {
    throw new MalformedMessage('request-line', requestLineForm)
  }
  return { method, target, minorVersion }
}

/** Other control characters make a target ambiguous, not the line. */
function isWhole(target: string): boolean {
  return target !== '' && !target.includes(' ') && !target.includes('\r') && !target.includes('\n')
}

/** Of a line whose end has not come: a method, and no CR but at its end. */
function checkPartOfRequestLine(text: string): void {
  const methodEnd = text.indexOf(' ')
  const cr = text.indexOf('\r')
  // Nothing, or the first half of an empty line.
  if (text === '' || text === '\r') return
  const isLineOpen = cr === -1 || (cr === text.length - 1 && methodEnd !== -1)
  if (isLineOpen && isToken(methodEnd === -1 ? text : text.slice(0, methodEnd))) return
  throw new MalformedMessage('request-line', requestLineForm)
}

function malformedField(): MalformedMessage {
  return new MalformedMessage('field-line', 'must be a name, a colon and a value without control characters')
}
