import { MalformedMessage } from '../exchange/malformed-message.ts'
import type { RequestBody, RequestHead } from '../exchange/request-head.ts'
import { digitsMax, parseDigits } from './characters.ts'
import { lengthsOf } from './raw-headers.ts'

type Framing = Pick<RequestHead, 'body' | 'isPersistent' | 'expectsContinue' | 'upgrade'>

interface FramingFields {
  contentLength: number | undefined
  isChunked: boolean
  closes: boolean
  keepsAlive: boolean
  upgrades: boolean
  expects: boolean
  upgrade: string | undefined
}

const lengths = lengthsOf(['content-length', 'transfer-encoding', 'connection', 'expect', 'upgrade'])
const noBody: RequestBody = { kind: 'none', isEmpty: false }
const emptyBody: RequestBody = { kind: 'none', isEmpty: true }
const chunkedBody: RequestBody = { kind: 'chunked' }

/**
 * What the fields say about where a request ends, and about its connection. A request that could be read in two ways
 * is rejected: two lengths, a length with chunks, a coding other than chunked, chunks in HTTP/1.0 (RFC 9112 6).
 * @throws MalformedMessage
 */
export function readRequestFraming(rawHeaders: readonly string[], minorVersion: number): Framing {
  const seen: FramingFields = {
    contentLength: undefined,
    isChunked: false,
    closes: false,
    keepsAlive: false,
    upgrades: false,
    expects: false,
    upgrade: undefined,
  }
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (lengths[name.length] === 1) readField(seen, name.toLowerCase(), rawHeaders[index + 1] ?? '')
  }
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

/** @param contentLength undefined = there is no such field @param isChunked whether a body of unknown length follows */
export function bodyOf(contentLength: number | undefined, isChunked: boolean): RequestBody {
  if (isChunked) return chunkedBody
  if (contentLength === undefined) return noBody
  return contentLength === 0 ? emptyBody : { kind: 'counted', length: contentLength }
}

function readField(seen: FramingFields, name: string, value: string): void {
  switch (name) {
    case 'content-length':
      if (seen.contentLength !== undefined)
        throw new MalformedMessage('Content-Length', 'must be sent only once')
      seen.contentLength = parseContentLength(value)
      break
    case 'transfer-encoding':
      if (seen.isChunked || value.toLowerCase() !== 'chunked') {
        throw new MalformedMessage(
          'Transfer-Encoding',
          'must be exactly "chunked": no other transfer coding is supported',
        )
      }
      seen.isChunked = true
      break
    case 'connection':
      readConnection(seen, value)
      break
    case 'expect':
      seen.expects = true
      break
    case 'upgrade':
      // Two Upgrade fields offer a choice of protocols, which matches none that is served here.
      seen.upgrade = seen.upgrade === undefined ? value.toLowerCase() : `${seen.upgrade}, ${value}`
      break
  }
}

function readConnection(seen: FramingFields, value: string): void {
  if (value === 'keep-alive') {
    seen.keepsAlive = true
    return
  }
  for (const part of value.toLowerCase().split(',')) {
    const option = part.trim()
    if (option === 'close') seen.closes = true
    else if (option === 'keep-alive') seen.keepsAlive = true
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
