import type { ResponseHeaders } from '../routes/response-fields.ts'
import { connectionOptionsOf, droppedFields } from './client-head.ts'

/**
 * The forwarded trailer lines: no framing, routing, credentials or control data (RFC 9110 6.5.1), nothing that is
 * removed from heads (the target's address, CORS, what the route removes), and nothing that the head's Connection
 * names.
 */
export function responseTrailerLines(
  trailers: readonly string[],
  headers: readonly string[],
  rules?: ResponseHeaders,
): string {
  const connectionOptions = connectionOptionsOf(headers)
  let lines = ''
  for (let index = 0; index + 1 < trailers.length; index += 2) {
    const name = trailers[index] ?? ''
    const lower = name.toLowerCase()
    if (
      forbiddenInTrailers.has(lower) ||
      lower.startsWith('access-control-') ||
      rules?.replacedNames.has(lower) ||
      connectionOptions?.has(lower)
    )
      continue
    lines += `${name}: ${trailers[index + 1]}\r\n`
  }
  return lines
}

const forbiddenInTrailers = new Set([
  ...droppedFields,
  'content-length',
  'content-encoding',
  'content-type',
  'content-range',
  'trailer',
  'set-cookie',
  'host',
  'location',
  'content-location',
  'www-authenticate',
  'date',
  'age',
  'cache-control',
  'expires',
  'retry-after',
  'vary',
])
