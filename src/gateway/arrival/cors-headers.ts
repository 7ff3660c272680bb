import { fieldsIn, withoutFields } from '#http/request-head.ts'

/** The CORS headers of the responses to one request (https://fetch.spec.whatwg.org/#http-cors-protocol). */
export interface CorsHeaders {
  /** The origin whose pages may read them; `*` = any, without cookies; undefined = none. */
  readonly origin: string | undefined
  /** Names and values for a response of the gateway itself. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** The same fields as field lines. */
  readonly lines: string
}

/** The fields of a response that a page may read besides the safelisted ones. */
const exposedHeaders = [
  'X-Request-Id',
  'Retry-After',
  'WWW-Authenticate',
  'DPoP-Nonce',
  'RateLimit',
  'RateLimit-Policy',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
]

/** Stands for every origin: what its pages send never has cookies, and responses are the same for all. */
export const everyOrigin = '*'

/** @param origin an allowed origin, or `*`; undefined = no page may read the response, and Vary tells caches */
export function createCorsHeaders(origin: string | undefined): CorsHeaders {
  const vary = origin === everyOrigin ? [] : [['Vary', 'Origin'] as const]
  const fields = [...corsFields(origin, exposedHeaders), ...vary]
  return { origin, fields, lines: fields.map(([name, value]) => `${name}: ${value}\r\n`).join('') }
}

function corsFields(origin: string | undefined, names: readonly string[]) {
  if (origin === undefined) return []
  const credentials = origin === everyOrigin ? [] : [['Access-Control-Allow-Credentials', 'true'] as const]
  return [
    ['Access-Control-Allow-Origin', origin] as const,
    ...credentials,
    ['Access-Control-Expose-Headers', names.join(', ')] as const,
  ]
}

/**
 * The header fields of an upstream's response with the gateway's CORS fields in place of the upstream's. Of these only
 * the exposed names are kept: only the upstream knows them.
 * @param headers name, value, name, value, as they arrived
 */
export function withCorsHeaders(headers: readonly string[], { origin }: CorsHeaders): readonly string[] {
  const kept: string[] = []
  const names = new Map(exposedHeaders.map((name) => [name.toLowerCase(), name]))
  let variesByOrigin = false
  for (const [name, value] of fieldsIn(headers)) {
    const lower = name.toLowerCase()
    if (lower === 'access-control-expose-headers') addExposedNames(names, value)
    if (lower.startsWith('access-control-')) continue
    if (lower === 'vary') variesByOrigin ||= /(?:^|,)[ \t]*(?:origin|\*)[ \t]*(?:,|$)/i.test(value)
    kept.push(name, value)
  }
  for (const [name, value] of corsFields(origin, [...names.values()])) kept.push(name, value)
  if (!variesByOrigin && origin !== everyOrigin) kept.push('Vary', 'Origin')
  return kept
}

/** The fields of an informational response, without CORS fields. */
export function withoutCorsHeaders(headers: readonly string[]): readonly string[] {
  return withoutFields(headers, (name) => name.startsWith('access-control-'))
}

/** `*` is left out: for a request with credentials it is a literal name. */
function addExposedNames(names: Map<string, string>, value: string): void {
  for (const part of value.split(',')) {
    const name = part.trim()
    const lower = name.toLowerCase()
    if (name !== '' && name !== '*' && !names.has(lower)) names.set(lower, name)
  }
}

/** Only the gateway's CORS fields reach the client, and only with the final response. */
export function withGatewayCors(
  status: number,
  headers: readonly string[],
  corsHeaders: CorsHeaders,
): readonly string[] {
  return status < 200 ? withoutCorsHeaders(headers) : withCorsHeaders(headers, corsHeaders)
}
