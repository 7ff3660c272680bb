import { isNamed, type RequestBody, type RequestHead, valuesOf } from '#http/request-head.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'

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

/** The largest number that is forwarded: no proxy chain is longer. */
const forwardsMax = 999_999_999
const wellFormed = /^0*([0-9]{1,9})$/
const digits = /^[0-9]+$/

/**
 * How often an OPTIONS request may still be forwarded, this time included (RFC 9110 7.6.2): 0 makes the gateway its
 * final recipient. undefined = unlimited, as for other methods, where the field has no meaning here.
 * @throws GatehouseError `request-invalid` where the field is not a number, or was sent more than once: its value could
 *   not be checked and updated, as required
 */
export function readMaxForwards({
  method,
  rawHeaders,
}: Pick<RequestHead, 'method' | 'rawHeaders'>): number | undefined {
  if (method !== 'OPTIONS') return undefined
  const [value, repeated] = valuesOf(rawHeaders, maxForwards)
  if (value === undefined) return undefined
  if (repeated !== undefined) throw malformed('was sent more than once')
  if (!digits.test(value)) throw malformed('is not a number')
  const number = wellFormed.exec(value)?.[1]
  return number === undefined ? forwardsMax : Number(number)
}

/**
 * The fields with Max-Forwards decremented.
 * @param remaining what readMaxForwards returned, at least 1
 */
export function withMaxForwards(rawHeaders: readonly string[], remaining: number): readonly string[] {
  const index = rawHeaders.findIndex((name, at) => at % 2 === 0 && isNamed(name, maxForwards))
  return index === -1 ? rawHeaders : rawHeaders.with(index + 1, String(remaining - 1))
}

const maxForwards = 'max-forwards'

function malformed(message: string): GatehouseError {
  return new GatehouseError('request-invalid', {
    detail: 'Max-Forwards must be one number.',
    errors: [{ field: 'Max-Forwards', message }],
  })
}
