import { randomBytes } from 'node:crypto'
import { MalformedMessage } from '../exchange/malformed-message.ts'
import type { RequestBody, RequestHead } from '../exchange/request-head.ts'
import { bodyOf, parseContentLength } from '../h1/request-framing.ts'
import { encodeHighBytes } from '../h1/request-line.ts'
import { checkField } from './field-rules.ts'
import { MalformedStream } from './framing/errors.ts'
import { type PseudoFields, readPseudoFields } from './pseudo-fields.ts'

const webSocket = 'websocket'
/** Superseded by `:protocol`: what a client sends in them means nothing (RFC 8441 5). */
const supersededFields = new Set(['sec-websocket-key', 'sec-websocket-accept'])

/**
 * The head of a request in the form of HTTP/1.1, so that routes, credentials and identity are decided by the same code:
 * `:authority` is Host, the crumbs of Cookie are one field (RFC 9113 8.2.3), and the WebSocket handshake of RFC 8441 is
 * an upgrade.
 * @param raw name, value, name, value, as they were sent
 * @param isEnded whether no body follows
 * @throws MalformedStream where its client does not speak HTTP/2 @throws MalformedMessage
 */
export function readRequestHead(raw: readonly string[], isEnded: boolean): RequestHead {
  const { pseudo, end } = readPseudoFields(raw)
  const rawHeaders: string[] = ['Host', '']
  let host: string | undefined
  let cookieAt = -1
  let contentLength: string | undefined
  let expectsContinue = false
  for (let index = end; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    const value = raw[index + 1] ?? ''
    checkField(name, value)
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
  const { method, target, upgrade } = targetOf(pseudo, rawHeaders, host)
  // Like that of HTTP/1.1 in the order of its properties too: V8 then has one shape for both.
  return {
    method,
    target,
    minorVersion: 1,
    rawHeaders,
    body: readBody(contentLength, isEnded, pseudo),
    isPersistent: true,
    expectsContinue,
    upgrade,
  }
}

/** Writes the Host, which must agree with `:authority` (RFC 9113 8.3.1). */
function targetOf(
  { method = '', path = '', authority = '', protocol }: PseudoFields,
  rawHeaders: string[],
  host: string | undefined,
): Pick<RequestHead, 'method' | 'target' | 'upgrade'> {
  if (host !== undefined && authority !== '' && host.toLowerCase() !== authority.toLowerCase())
    throw new MalformedMessage('Host', 'must be the same as :authority')
  rawHeaders[1] = authority === '' ? (host ?? '') : authority
  // Without Host there is no field, as in HTTP/1.1.
  if (authority === '' && host === undefined) rawHeaders.splice(0, 2)
  if (method === 'CONNECT' && protocol === webSocket) {
    writeKey(rawHeaders)
    return { method: 'GET', target: readPath(path), upgrade: webSocket }
  }
  return { method, target: method === 'CONNECT' ? authority : readPath(path), upgrade: undefined }
}

/** A backend of HTTP/1.1 wants a key, and one only (RFC 6455 11.3.1). */
function writeKey(rawHeaders: string[]): void {
  for (let index = rawHeaders.length - 2; index >= 0; index -= 2)
    if (supersededFields.has(rawHeaders[index] ?? '')) rawHeaders.splice(index, 2)
  rawHeaders.push('Sec-WebSocket-Key', randomBytes(16).toString('base64'))
}

/**
 * The target of a request, from its `:path`. Other control characters make it ambiguous, but not the request line that
 * is made of it.
 * @throws MalformedStream where it is empty @throws MalformedMessage
 */
export function readPath(path: string): string {
  if (path === '') throw new MalformedStream('the :path is empty')
  if ((path[0] !== '/' && path !== '*') || path.includes(' ') || path.includes('\r') || path.includes('\n'))
    throw new MalformedMessage(':path', 'must be a request target')
  return encodeHighBytes(path)
}

function readBody(length: string | undefined, isEnded: boolean, { protocol }: PseudoFields): RequestBody {
  // What follows a WebSocket handshake is its frames.
  if (protocol === webSocket) return bodyOf(undefined, false)
  if (length === undefined) return bodyOf(undefined, !isEnded)
  const bytes = parseContentLength(length)
  if (bytes > 0 && isEnded) throw new MalformedMessage('Content-Length', 'must be the length of the body')
  return bodyOf(bytes, false)
}
