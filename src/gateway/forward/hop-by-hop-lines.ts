import type { RequestBody } from '#http/exchange/request-head.ts'

/** What the connection of a request to an upstream depends on: see RequestHeadInput. */
interface ConnectionLinesInput {
  readonly rawHeaders: readonly string[]
  readonly isUpgrade: boolean
  readonly isLast: boolean
  readonly minorVersion: number
}

/** The hop-by-hop fields for the upstream (RFC 9110 7.6.1). */
export function connectionLines({
  rawHeaders,
  isUpgrade,
  isLast,
  minorVersion,
}: ConnectionLinesInput): string {
  if (isUpgrade) return 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
  // Alone: some servers compare the whole value.
  if (isLast) return 'Connection: close\r\n'
  return minorVersion === 1 && acceptsTrailers(rawHeaders) ? 'Connection: TE\r\nTE: trailers\r\n' : ''
}

/** Whether the client reads the trailer fields of responses, which are forwarded (RFC 9110 10.1.4). */
function acceptsTrailers(rawHeaders: readonly string[]): boolean {
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.length !== 2 || rawHeaders[index]?.toLowerCase() !== 'te') continue
    if (/(?:^|,)[ \t]*trailers[ \t]*(?:,|$)/i.test(rawHeaders[index + 1] ?? '')) return true
  }
  return false
}

/** Whether a Connection field names no other field, in the spellings that nearly all senders use. */
export function isUsualConnection(value: string): boolean {
  return value === 'keep-alive' || value === 'close' || value === 'Keep-Alive' || value === 'Close'
}

/** How the upstream knows where the body ends (RFC 9112 6). */
export function framingLine(body: RequestBody): string {
  switch (body.kind) {
    case 'none':
      return body.isEmpty ? 'Content-Length: 0\r\n' : ''
    case 'counted':
      return `Content-Length: ${body.length}\r\n`
    case 'chunked':
      return 'Transfer-Encoding: chunked\r\n'
    default:
      return body satisfies never
  }
}
