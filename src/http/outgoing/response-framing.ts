import { digitsMax, parseDigits } from '../message/characters.ts'
import { type MarkedText, sliceValue } from '../message/field-lines.ts'
import { mark } from '../message/name-table.ts'
import { fieldsIn, valuesOf } from '../request-head.ts'
import { InvalidResponse } from './failure.ts'
import { responseMark } from './response-head.ts'
import { bindsConnection } from './upstream-connection.ts'

/** What the fields of a response say about where it ends, and about its connection. */
export interface Framing {
  contentLength: number | undefined
  isChunked: boolean
  isPersistent: boolean
  keepAliveMs: number | undefined
  /** Whether a challenge names a scheme that authenticates the connection. */
  bindsConnection: boolean
}

/** RFC 9112 6 and 9.3. @throws InvalidResponse if the end is ambiguous */
export function readResponseFraming(
  { text, marked: { at, end } }: MarkedText,
  isHttp10: boolean,
): Readonly<Framing> {
  const framing: Framing = {
    contentLength: undefined,
    isChunked: false,
    isPersistent: !isHttp10,
    keepAliveMs: undefined,
    bindsConnection: false,
  }
  for (let index = 0; index < end; index += 5) {
    const found = at[index] ?? 0
    if (found > mark.keepAlive && found !== responseMark.challenge) continue
    const value = text.slice(at[index + 2], at[index + 3])
    if (found !== responseMark.challenge) readFramingField(framing, found, value)
    else if (bindsConnection(value)) framing.bindsConnection = true
  }
  if (framing.isChunked && (framing.contentLength !== undefined || isHttp10)) {
    throw new InvalidResponse('Transfer-Encoding together with Content-Length, or in HTTP/1.0')
  }
  return framing
}

/** Whether any challenge of a head is of a scheme that authenticates the connection. */
export function hasBindingChallenge(headers: readonly string[]): boolean {
  return (
    valuesOf(headers, 'www-authenticate').some(bindsConnection) ||
    valuesOf(headers, 'proxy-authenticate').some(bindsConnection)
  )
}

function readFramingField(framing: Framing, found: number, value: string): void {
  switch (found) {
    case mark.contentLength:
      readLengths(framing, value)
      break
    case mark.transferEncoding:
      if (framing.isChunked || value.toLowerCase() !== 'chunked') {
        throw new InvalidResponse('a transfer encoding other than chunked')
      }
      framing.isChunked = true
      break
    case mark.connection:
      if (value !== 'keep-alive' && closes.test(value)) framing.isPersistent = false
      break
    case mark.keepAlive:
      framing.keepAliveMs = keepAliveTimeoutMs(value)
      break
  }
}

/** A length that is repeated, in one field or more, counts once (RFC 9110 8.6). */
function readLengths(framing: Pick<Framing, 'contentLength'>, value: string): void {
  for (const part of value.includes(',') ? value.split(',') : [value])
    readLength(framing, sliceValue(part, 0, part.length))
}

function readLength(framing: Pick<Framing, 'contentLength'>, value: string): void {
  const length = value.length > digitsMax ? undefined : parseDigits(value)
  if (length === undefined || (framing.contentLength ?? length) !== length)
    throw new InvalidResponse('invalid or conflicting Content-Length')
  framing.contentLength = length
}

/** The content length of an HTTP/2 head. @throws InvalidResponse if there are two */
export function readContentLength(headers: readonly string[]): number | undefined {
  const framing: Pick<Framing, 'contentLength'> = { contentLength: undefined }
  for (const value of valuesOf(headers, 'content-length')) readLengths(framing, value)
  return framing.contentLength
}

/** Whether a 101 opens a WebSocket (RFC 6455 4.2.2). */
export function isWebSocket(headers: readonly string[]): boolean {
  let isUpgrade = false
  let isNamed = false
  for (const [sentName, value] of fieldsIn(headers)) {
    const name = sentName.toLowerCase()
    if (name === 'upgrade') isNamed = value.toLowerCase() === 'websocket'
    else if (name === 'connection') isUpgrade ||= /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i.test(value)
  }
  return isUpgrade && isNamed
}

const closes = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
/** The usual spelling, without a regular expression. */
const usualTimeout = 'timeout='

function keepAliveTimeoutMs(value: string): number | undefined {
  const usual = value.startsWith(usualTimeout) ? parseDigits(value.slice(usualTimeout.length)) : undefined
  if (usual !== undefined && usual < 1_000_000) return usual * 1_000
  const seconds = /(?:^|[,; \t])timeout=([0-9]{1,6})/i.exec(value)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}
