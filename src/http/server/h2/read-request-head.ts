import { randomBytes } from 'node:crypto'
import type { FieldList } from '../../h2/framing/control.ts'
import { checkField, checkPlace, checkValue } from '../../h2/framing/fields.ts'
import { MalformedStream } from '../../h2/framing/protocol.ts'
import { isToken } from '../../message/characters.ts'
import type { NameTable } from '../../message/name-table.ts'
import { MalformedMessage, type RequestBody, type RequestHead } from '../../request-head.ts'
import { DecodedHead } from '../marked-head.ts'
import { bodyOf, parseContentLength } from '../request-framing.ts'
import { encodeHighBytes, plainTarget } from '../request-line.ts'

const webSocket = 'websocket'
/** Superseded by `:protocol`: their values mean nothing (RFC 8441 5). */
const supersededFields = new Set(['sec-websocket-key', 'sec-websocket-accept'])

/**
 * A request head in the form of HTTP/1.1, so that the same code decides about routes, credentials and identity:
 * `:authority` is Host, the crumbs of Cookie are one field (RFC 9113 8.2.3), and the WebSocket handshake of RFC 8441 is
 * an upgrade.
 * @param isEnded whether no body follows
 * @param names marks the fields
 * @throws MalformedStream for what breaks the rules of HTTP/2 itself: only the stream can be reset
 * @throws MalformedMessage
 */
export function readRequestHead(
  { fields: raw, areChecked }: Pick<FieldList, 'fields' | 'areChecked'>,
  isEnded: boolean,
  names: NameTable,
): DecodedHead {
  const { pseudo, end } = readPseudoFields(raw)
  const rawHeaders: string[] = ['Host', '']
  let host: string | undefined
  let cookieAt = -1
  let contentLength: string | undefined
  let expectsContinue = false
  for (let index = end; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    const value = raw[index + 1] ?? ''
    if (areChecked) checkPlace(name)
    else checkField(name, value)
    switch (name) {
      case 'host':
        if (host !== undefined && host !== value) throw new MalformedMessage('Host', 'must be sent only once')
        host = value
        continue
      case 'cookie':
        if (cookieAt !== -1) {
          rawHeaders[cookieAt] += `; ${value}`
          continue
        }
        cookieAt = rawHeaders.length + 1
        break
      case 'content-length':
        if (contentLength !== undefined)
          throw new MalformedMessage('Content-Length', 'must be sent only once')
        contentLength = value
        break
      case 'expect':
        expectsContinue = true
    }
    rawHeaders.push(name, value)
  }
  writeHost(rawHeaders, host, pseudo.authority)
  const { method, target, upgrade } = targetOf(pseudo)
  if (upgrade !== undefined) writeKey(rawHeaders)
  const body = readBody(contentLength, isEnded, pseudo)
  return new DecodedHead(
    { method, target, hasPlainTarget: plainTarget.test(target), minorVersion: 1 },
    { body, isPersistent: true, expectsContinue, upgrade },
    names,
    rawHeaders,
  )
}

/**
 * Writes the Host into the place that is reserved for it at the start of `rawHeaders`, or removes the place if the
 * request names no host.
 * @throws MalformedMessage if Host and `:authority` differ (RFC 9113 8.3.1)
 */
function writeHost(rawHeaders: string[], host: string | undefined, authority = ''): void {
  if (host !== undefined && authority !== '' && host.toLowerCase() !== authority.toLowerCase())
    throw new MalformedMessage('Host', 'must be the same as :authority')
  if (authority === '' && host === undefined) rawHeaders.splice(0, 2)
  else rawHeaders[1] = authority === '' ? (host ?? '') : authority
}

/** @throws MalformedStream or MalformedMessage if the `:path` is not a request target */
function targetOf({
  method = '',
  path = '',
  authority = '',
  protocol,
}: PseudoFields): Pick<RequestHead, 'method' | 'target' | 'upgrade'> {
  if (method === 'CONNECT' && protocol === webSocket)
    return { method: 'GET', target: readPath(path), upgrade: webSocket }
  return { method, target: method === 'CONNECT' ? authority : readPath(path), upgrade: undefined }
}

/** Adds the key of a WebSocket handshake: an HTTP/1.1 backend requires exactly one (RFC 6455 11.3.1). */
function writeKey(rawHeaders: string[]): void {
  for (let index = rawHeaders.length - 2; index >= 0; index -= 2)
    if (supersededFields.has(rawHeaders[index] ?? '')) rawHeaders.splice(index, 2)
  rawHeaders.push('Sec-WebSocket-Key', randomBytes(16).toString('base64'))
}

/**
 * The target of a request, from its `:path`. Control characters other than CR and LF are accepted here: they cannot
 * break the request line that the target is written into, and routing refuses them.
 * @throws MalformedStream if it is empty
 * @throws MalformedMessage
 */
function readPath(path: string): string {
  if (path === '') throw new MalformedStream('the :path is empty')
  if ((path[0] !== '/' && path !== '*') || path.includes(' ') || path.includes('\r') || path.includes('\n'))
    throw new MalformedMessage(':path', 'must be a request target')
  return encodeHighBytes(path)
}

function readBody(length: string | undefined, isEnded: boolean, { protocol }: PseudoFields): RequestBody {
  // A WebSocket handshake is followed by frames, not by a body.
  if (protocol === webSocket) return bodyOf(undefined, false)
  if (length === undefined) return bodyOf(undefined, !isEnded)
  const bytes = parseContentLength(length)
  if (bytes > 0 && isEnded) throw new MalformedStream('there is no body, but a Content-Length')
  return bodyOf(bytes, false)
}

const colon = ':'.charCodeAt(0)

/** The pseudo-header fields of a request (RFC 9113 8.3.1, RFC 8441 4); undefined = it is absent. */
interface PseudoFields {
  method: string | undefined
  path: string | undefined
  scheme: string | undefined
  authority: string | undefined
  protocol: string | undefined
}

const pseudoNames = new Map<string, keyof PseudoFields>([
  [':method', 'method'],
  [':path', 'path'],
  [':scheme', 'scheme'],
  [':authority', 'authority'],
  [':protocol', 'protocol'],
])

/**
 * Reads the pseudo-header fields, and checks that a request has those that it needs and no others.
 * @param raw name, value, name, value: they come first
 * @returns also the index of the first field after them
 * @throws MalformedStream
 * @throws MalformedMessage
 */
function readPseudoFields(raw: readonly string[]): {
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
    const key = pseudoNames.get(raw[index] ?? '')
    if (key === undefined) throw new MalformedStream('a pseudo-header field is not one of a request')
    if (pseudo[key] !== undefined) throw new MalformedStream(`:${key} is sent twice`)
    pseudo[key] = raw[index + 1] ?? ''
  }
  checkPseudoFields(pseudo)
  return { pseudo, end: index }
}

/** RFC 9113 8.3.1, 8.5; RFC 8441 4. */
function checkPseudoFields({ method, path, scheme, authority, protocol }: PseudoFields): void {
  if (method === undefined) throw new MalformedStream('there is no :method')
  const isConnect = method === 'CONNECT' && protocol === undefined
  if (protocol !== undefined && method !== 'CONNECT')
    throw new MalformedStream('only CONNECT may have :protocol')
  if (isConnect && (path !== undefined || scheme !== undefined || authority === undefined))
    throw new MalformedStream('CONNECT may have only :authority')
  if (!isConnect && (path === undefined || scheme === undefined))
    throw new MalformedStream('there is no :path or :scheme')
  if (!isToken(method)) throw new MalformedMessage(':method', 'must be a method')
  checkValue(':authority', authority ?? '')
}
