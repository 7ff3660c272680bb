import { MalformedMessage } from '../exchange/malformed-message.ts'
import { isToken } from '../h1/characters.ts'
import { checkValue } from './field-rules.ts'
import { MalformedStream } from './framing/errors.ts'

const colon = ':'.charCodeAt(0)

/** The pseudo-header fields of a request (RFC 9113 8.3.1, RFC 8441 4); undefined = it is absent. */
export interface PseudoFields {
  method: string | undefined
  path: string | undefined
  scheme: string | undefined
  authority: string | undefined
  protocol: string | undefined
}

/**
 * Reads them, and checks that those are there which a request needs, and no others.
 * @param raw name, value, name, value: they come first
 * @returns also the index of the first field after them
 * @throws MalformedStream @throws MalformedMessage
 */
export function readPseudoFields(raw: readonly string[]): {
  readonly pseudo: PseudoFields
  readonly end: number
} {
  const pseudo: PseudoFields = {
    method: undefined,
    path: undefined,
    scheme: undefined,
    authority: undefined,
    protocol: undefined,
  }
  let index = 0
  for (; index + 1 < raw.length && raw[index]?.charCodeAt(0) === colon; index += 2) {
    const key = keyOf(raw[index] ?? '')
    if (pseudo[key] !== undefined) throw new MalformedStream(`:${key} is sent twice`)
    pseudo[key] = raw[index + 1] ?? ''
  }
  checkPseudoFields(pseudo)
  return { pseudo, end: index }
}

function keyOf(name: string): keyof PseudoFields {
  switch (name) {
    case ':method':
      return 'method'
    case ':path':
      return 'path'
    case ':scheme':
      return 'scheme'
    case ':authority':
      return 'authority'
    case ':protocol':
      return 'protocol'
    default:
      throw new MalformedStream('a pseudo-header field is none of a request')
  }
}

/** RFC 9113 8.3.1, 8.5; RFC 8441 4. */
function checkPseudoFields({ method, path, scheme, authority, protocol }: PseudoFields): void {
  if (method === undefined) throw new MalformedStream('there is no :method')
  const isConnect = method === 'CONNECT' && protocol === undefined
  if (protocol !== undefined && method !== 'CONNECT') throw new MalformedStream('only CONNECT has :protocol')
  if (isConnect && (path !== undefined || scheme !== undefined || authority === undefined))
    throw new MalformedStream('CONNECT has :authority alone')
  if (!isConnect && (path === undefined || scheme === undefined))
    throw new MalformedStream('there is no :path or :scheme')
  if (!isToken(method)) throw new MalformedMessage(':method', 'must be a method')
  checkValue(':authority', authority ?? '')
}
