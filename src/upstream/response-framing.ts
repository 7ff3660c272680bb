import { digitsMax, parseDigits } from '../http1/characters.ts'
import { lengthsOf } from '../http1/raw-headers.ts'
import { bindsConnection } from './connection-auth.ts'
import { InvalidResponse } from './failure.ts'

/** What the fields of a response say about its end and its connection. */
export interface Framing {
  contentLength: number | undefined
  isChunked: boolean
  isPersistent: boolean
  keepAliveMs: number | undefined
  /** Whether a challenge names a scheme that authenticates the connection. */
  bindsConnection: boolean
}

const challengeNames = new Set(['www-authenticate', 'proxy-authenticate'])
/** 1 = that of a field that frames, 2 = that of a challenge; no length is both. */
const lengths = lengthsOf(['content-length', 'transfer-encoding', 'connection', 'keep-alive'])
for (const { length } of challengeNames) lengths[length] = 2

/** RFC 9112 6 and 9.3. @throws InvalidResponse where the end could be understood in two ways */
export function readResponseFraming(headers: readonly string[], isHttp10: boolean): Readonly<Framing> {
  const framing: Framing = {
    contentLength: undefined,
    isChunked: false,
    isPersistent: !isHttp10,
    keepAliveMs: undefined,
    bindsConnection: false,
  }
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const kind = lengths[name.length]
    if (kind === 1) readFramingField(framing, name.toLowerCase(), headers[index + 1] ?? '')
    else if (kind === 2 && isBindingChallenge(name, headers[index + 1] ?? '')) framing.bindsConnection = true
  }
  if (framing.isChunked && (framing.contentLength !== undefined || isHttp10)) {
    throw new InvalidResponse('Transfer-Encoding together with Content-Length, or in HTTP/1.0')
  }
  return framing
}

/** Whether any challenge of a head is of a scheme that authenticates the connection. */
export function hasBindingChallenge(headers: readonly string[]): boolean {
  return headers.some((name, index) => index % 2 === 0 && isBindingChallenge(name, headers[index + 1] ?? ''))
}

/** The value first: it costs less. */
function isBindingChallenge(name: string, value: string): boolean {
  return bindsConnection(value) && challengeNames.has(name.toLowerCase())
}

function readFramingField(framing: Framing, name: string, value: string): void {
  switch (name) {
    case 'content-length':
      // Repeated, in one field or more, it is one length (RFC 9110 8.6).
      if (value.includes(',')) for (const part of value.split(',')) readLength(framing, withoutBlanks(part))
      else readLength(framing, value)
      break
    case 'transfer-encoding':
      if (framing.isChunked || value.toLowerCase() !== 'chunked') {
        throw new InvalidResponse('a transfer encoding other than chunked')
      }
      framing.isChunked = true
      break
    case 'connection':
      if (value !== 'keep-alive' && closes.test(value)) framing.isPersistent = false
      break
    case 'keep-alive':
      framing.keepAliveMs = keepAliveTimeoutMs(value)
      break
  }
}

function readLength(framing: Framing, value: string): void {
  const length = value.length > digitsMax ? undefined : parseDigits(value)
  if (length === undefined || (framing.contentLength ?? length) !== length) throw wrongLength()
  framing.contentLength = length
}

/** Without the spaces and tabs around it (RFC 9110 5.6.3). */
function withoutBlanks(part: string): string {
  let start = 0
  let end = part.length
  while (start < end && isBlank(part, start)) start++
  while (end > start && isBlank(part, end - 1)) end--
  return part.slice(start, end)
}

function isBlank(text: string, index: number): boolean {
  return text[index] === ' ' || text[index] === '\t'
}

/** Whether a 101 says that it begins a WebSocket (RFC 6455 4.2.2). */
export function isWebSocket(headers: readonly string[]): boolean {
  let isUpgrade = false
  let isNamed = false
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index]?.toLowerCase()
    const value = headers[index + 1] ?? ''
    if (name === 'upgrade') isNamed = value.toLowerCase() === 'websocket'
    else if (name === 'connection') isUpgrade ||= /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i.test(value)
  }
  return isUpgrade && isNamed
}

function wrongLength(): InvalidResponse {
  return new InvalidResponse('invalid or conflicting Content-Length')
}

const closes = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
/** The usual spelling; a regular expression costs as much as the rest of a head. */
const usualTimeout = 'timeout='

function keepAliveTimeoutMs(value: string): number | undefined {
  const usual = value.startsWith(usualTimeout) ? parseDigits(value.slice(usualTimeout.length)) : undefined
  if (usual !== undefined && usual < 1_000_000) return usual * 1_000
  const seconds = /(?:^|[,; \t])timeout=([0-9]{1,6})/i.exec(value)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}
