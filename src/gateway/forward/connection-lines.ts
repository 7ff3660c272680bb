import { type RequestBody, type RequestHead, valuesOf } from '#http/request-head.ts'
import type { Route } from '../routes/route.ts'

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
  // On its own, as some servers compare the whole value.
  if (isLast) return 'Connection: close\r\n'
  return minorVersion === 1 && acceptsTrailers(rawHeaders) ? 'Connection: TE\r\nTE: trailers\r\n' : ''
}

/** Whether the client reads the trailer fields of responses, which are forwarded (RFC 9110 10.1.4). */
function acceptsTrailers(rawHeaders: readonly string[]): boolean {
  return valuesOf(rawHeaders, 'te').some((value) => /(?:^|,)[ \t]*trailers[ \t]*(?:,|$)/i.test(value))
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

/** Methods whose content means nothing in general, so that many servers leave it unread (RFC 9110 9.3.1 to 9.3.7). */
const bodilessMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE'])

/**
 * Whether no request may follow on the upstream connection. A backend may leave unread a body that the client sends
 * only after a 100, trailer fields, or a body that the method seldom has, and then take these bytes for the next
 * request. Told `close`, it reads no request after this one (RFC 9112 9.6).
 */
export function isLastOnConnection(
  { method, expectsContinue, body }: Pick<RequestHead, 'method' | 'expectsContinue' | 'body'>,
  { passesTrailers }: Pick<Route<unknown>, 'passesTrailers'>,
): boolean {
  if (expectsContinue || (passesTrailers && body.kind === 'chunked')) return true
  // Some servers fold the case of methods (see routeForMethod).
  return body.kind !== 'none' && bodilessMethods.has(method.toUpperCase())
}
