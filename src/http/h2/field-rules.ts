import { MalformedMessage } from '../exchange/malformed-message.ts'
import { tokenCharacters, valueCharacters } from '../h1/characters.ts'
import { MalformedStream } from './framing/errors.ts'

/** Fields of connections of HTTP/1.1, which make a message of HTTP/2 malformed (RFC 9113 8.2.2). */
const connectionFields = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'],
])

/**
 * Checks a field that is no pseudo-header field (RFC 9113 8.2).
 * @throws MalformedStream where its client does not speak HTTP/2 @throws MalformedMessage for other characters
 */
export function checkField(name: string, value: string): void {
  if (connectionFields.has(name)) throw new MalformedStream(`there is no ${name} in HTTP/2`)
  if (name === 'te' && value !== 'trailers') throw new MalformedStream('TE is not "trailers"')
  checkName(name)
  checkValue(name, value)
}

function checkName(name: string): void {
  if (name[0] === ':') throw new MalformedStream(`${name} comes after other fields`)
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index)
    if (code >= 0x41 && code <= 0x5a) throw new MalformedStream('the name of a field is not in lower case')
    if (tokenCharacters[code] !== 1)
      throw new MalformedMessage('field-line', 'must have a name that is a token')
  }
  if (name === '') throw new MalformedMessage('field-line', 'must have a name')
}

/** @throws MalformedMessage */
export function checkValue(name: string, value: string): void {
  for (let index = 0; index < value.length; index++) {
    if (valueCharacters[value.charCodeAt(index)] !== 1)
      throw new MalformedMessage(name, 'must not have control characters')
  }
  if (isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1)))
    throw new MalformedMessage(name, 'must not begin or end with a space')
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
