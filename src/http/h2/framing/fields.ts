import { isSpace, tokenCharacters, valueCharacters } from '../../message/characters.ts'
import { fieldsIn, MalformedMessage } from '../../request-head.ts'
import type { HpackEncoder } from '../hpack/encoder.ts'
import { MalformedStream } from './protocol.ts'
import type { FieldWriter } from './streams.ts'

/** Fields of HTTP/1.1 connections, which make an HTTP/2 message malformed (RFC 9113 8.2.2). */
const connectionFields = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

/** What can be wrong with the name of a field, or with the value of `te`. */
type NameFault = 'connection' | 'te' | 'capital' | 'character' | 'empty'

/**
 * Makes no error (hot): what is found may not matter. A pseudo-header field may have any name in lower case here.
 */
function nameFaultOf(name: string, value: string): NameFault | undefined {
  if (connectionFields.has(name)) return 'connection'
  if (name === 'te' && value !== 'trailers') return 'te'
  for (let index = isPseudo(name) ? 1 : 0; index < name.length; index++) {
    const code = name.charCodeAt(index)
    if (code >= 0x41 && code <= 0x5a) return 'capital'
    if (tokenCharacters[code] !== 1) return 'character'
  }
  return name === '' ? 'empty' : undefined
}

function isPseudo(name: string): boolean {
  return name[0] === ':'
}

/** Whether a field needs no check but those of its value's characters and of its place. */
export function hasUsualName(name: string, value: string): boolean {
  return nameFaultOf(name, value) === undefined
}

/**
 * Checks a field that is not a pseudo-header field (RFC 9113 8.2).
 * @throws MalformedStream for what breaks the rules of HTTP/2 itself
 * @throws MalformedMessage for other characters
 */
export function checkField(name: string, value: string): void {
  checkPlace(name)
  const fault = nameFaultOf(name, value)
  if (fault !== undefined) throw nameError(fault, name)
  checkValue(name, value)
}

function nameError(fault: NameFault, name: string): MalformedStream | MalformedMessage {
  switch (fault) {
    case 'connection':
      return new MalformedStream(`${name} is not allowed in HTTP/2`)
    case 'te':
      return new MalformedStream('TE is not "trailers"')
    case 'capital':
      return new MalformedStream('the name of a field is not in lower case')
    case 'character':
      return new MalformedMessage('field-line', 'must have a name that is a token')
    case 'empty':
      return new MalformedMessage('field-line', 'must have a name')
    default:
      return fault satisfies never
  }
}

/** Of a field after the pseudo-header fields. @throws MalformedStream if it is one of these (RFC 9113 8.3) */
export function checkPlace(name: string): void {
  if (isPseudo(name)) throw new MalformedStream(`${name} comes after other fields`)
}

/** @throws MalformedMessage */
export function checkValue(name: string, value: string): void {
  for (let index = 0; index < value.length; index++) {
    if (valueCharacters[value.charCodeAt(index)] !== 1)
      throw new MalformedMessage(name, 'must not have control characters')
  }
  if (isSpace(value.charCodeAt(0)) || isSpace(value.charCodeAt(value.length - 1)))
    throw new MalformedMessage(name, 'must not begin or end with a space')
}

/** Whether the fields may follow a body. Those of a server are checked in `http/outgoing/h2`, like its heads. */
export function areTrailers(fields: readonly string[], isServer: boolean): boolean {
  for (const [name, value] of fieldsIn(fields))
    if (name.startsWith(':') || (isServer && !isField(name, value))) return false
  return true
}

function isField(name: string, value: string): boolean {
  try {
    checkField(name, value)
    return true
  } catch (error) {
    if (error instanceof MalformedStream || error instanceof MalformedMessage) return false
    throw error
  }
}

interface LineOptions {
  /** The index of the first line. */
  readonly from?: number
  /** Whether a name, as spelled in the lines, is left out. */
  readonly isLeftOut?: (name: string) => boolean
}

/** @param lines field lines */
export function headWriter(status: number, lines: string, options?: LineOptions): FieldWriter {
  return (encoder) => {
    encoder.add(':status', String(status))
    addLines(encoder, lines, options)
  }
}

/**
 * Adds field lines to a field block, up to their end or an empty line.
 * @param lines field lines as the gateway writes them, each ended by CR LF
 */
export function addLines(
  encoder: HpackEncoder,
  lines: string,
  { from = 0, isLeftOut }: LineOptions = {},
): void {
  let start = from
  for (let end = lines.indexOf('\r\n', start); end > start; end = lines.indexOf('\r\n', start)) {
    const colon = lines.indexOf(':', start)
    const name = lines.slice(start, colon)
    if (isLeftOut?.(name) !== true) encoder.add(name, lines.slice(colon + 2, end))
    start = end + 2
  }
}

/** Such a field answers the key of a WebSocket handshake, which HTTP/2 clients do not send (RFC 8441 5). */
export function isAcceptOfKey(name: string): boolean {
  return name.toLowerCase() === 'sec-websocket-accept'
}
