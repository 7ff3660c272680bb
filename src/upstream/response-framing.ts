import { digitsMax, parseDigits } from '../wire/characters.ts'
import { InvalidResponse } from './failure.ts'

/** What the fields of a response say of its end and its connection. */
export interface Framing {
  contentLength: number | undefined
  isChunked: boolean
  isPersistent: boolean
  keepAliveMs: number | undefined
}

/** RFC 9112 6 and 9.3. @throws InvalidResponse where it could be read in two ways */
export function readFraming(headers: readonly string[], isHttp10: boolean): Readonly<Framing> {
  const framing: Framing = {
    contentLength: undefined,
    isChunked: false,
    isPersistent: !isHttp10,
    keepAliveMs: undefined,
  }
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = framingName(headers[index] ?? '')
    if (name !== undefined) readFramingField(framing, name, headers[index + 1] ?? '')
  }
  if (framing.isChunked && (framing.contentLength !== undefined || isHttp10)) {
    throw new InvalidResponse('chunks beside a content length, or from HTTP/1.0')
  }
  return framing
}

function readFramingField(framing: Framing, name: string, value: string): void {
  switch (name) {
    case 'content-length':
      if (framing.contentLength !== undefined || value.length > digitsMax) throw wrongLength()
      framing.contentLength = parseDigits(value)
      if (framing.contentLength === undefined) throw wrongLength()
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

function wrongLength(): InvalidResponse {
  return new InvalidResponse('a content length that is none, or two')
}

const closes = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
/** As nearly all servers write it: patterns cost as much as the rest of a head. */
const usualTimeout = 'timeout='

/** The name in lower case if its length is that of one that matters here; most are not. */
function framingName(name: string): string | undefined {
  return name.length === 10 || name.length === 14 || name.length === 17 ? name.toLowerCase() : undefined
}

function keepAliveTimeoutMs(value: string): number | undefined {
  const usual = value.startsWith(usualTimeout) ? parseDigits(value.slice(usualTimeout.length)) : undefined
  if (usual !== undefined && usual < 1_000_000) return usual * 1_000
  const seconds = /(?:^|[,; \t])timeout=([0-9]{1,6})/i.exec(value)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}
