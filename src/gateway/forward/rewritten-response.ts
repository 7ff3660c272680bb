import type { ResponseFraming } from '#http/client-exchange.ts'
import { fieldsIn, lengthsOf, type RequestHead, valuesOf } from '#http/request-head.ts'
import { dateLine } from '#platform/http.ts'
import {
  CachingLines,
  cachingLengths,
  type ResponseCaching,
  type ResponseHeaders,
} from '../routes/response-fields.ts'
import type { WorkerScopes } from '../routes/worker-scopes.ts'
import type { OwnCookies } from './own-cookies.ts'
import { type PublicValueContext, pathFields, publicValue } from './public-values.ts'

/**
 * Fields of the upstream that never reach the client: those that are hop-by-hop (RFC 9110 7.6.1), of which the gateway
 * writes its own, as it does its request ID.
 */
const droppedFields = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
])

export interface ResponseHeadInput extends PublicValueContext {
  readonly status: number
  /** Name, value, name, value, as they arrived. */
  readonly headers: readonly string[]
  /** The fields that the route sets, in the same form; undefined = none. They are in no 1xx but a 101. */
  readonly set: readonly string[] | undefined
  /** Whether trailers can follow (canHaveTrailers). */
  readonly mayHaveTrailers: boolean
  /** What caches are told; undefined = only what the backend says. */
  readonly caching: ResponseCaching | undefined
  /** Whether the caller was authenticated. */
  readonly isAuthenticated: boolean
  readonly requestId: string
  /** The path of the request, decoded as routes are matched. */
  readonly clientPath: string
  /** The service workers that could reach the portal; undefined = there is no portal on this origin. */
  readonly portalScopes: WorkerScopes | undefined
  /** Cookies that no backend may set; undefined = it may set any. */
  readonly ownCookies: OwnCookies | undefined
}

/**
 * The header lines for the client: as received, but without hop-by-hop fields and without the target's address, and
 * with the request ID of the gateway in the final response.
 */
export function responseHeaderLines(input: ResponseHeadInput): string {
  const { status, headers, mayHaveTrailers } = input
  const connectionOptions = connectionOptionsOf(headers)
  // An interim response, or a 101, is never stored.
  const caching = input.caching && status >= 200 ? new CachingLines(input.caching) : undefined
  const specialLengths = caching ? lengthsWithCaching : lengths
  let lines = ''
  let hasDate = status < 200
  let hasLength = false
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const value = headers[index + 1] ?? ''
    const lower = specialLengths[name.length] === 1 || connectionOptions ? name.toLowerCase() : ''
    if (connectionOptions?.has(lower) || isDropped(lower, { status, mayHaveTrailers, hasLength })) continue
    if (caching?.take(lower, value) || isWithheld(lower, value, input)) continue
    if (lower === 'content-length') hasLength = true
    if (lower === 'date') hasDate = true
    lines += `${name}: ${rewriteValue(lower, value, input)}\r\n`
  }
  lines += setLines(input, caching)
  return withOwnLines(lines + varyingLines(input, caching), hasDate, status, input.requestId)
}

/** Adds the gateway's own lines. */
export function withOwnLines(lines: string, hasDate: boolean, status: number, requestId: string): string {
  const withId = isFinal(status) ? lines + idName + requestId + lineEnd : lines
  // RFC 9110 6.6.1.
  return hasDate ? withId : withId + dateLine()
}

const idName = 'X-Request-Id: '
const lineEnd = '\r\n'

/** Whether a response is final, and not a 1xx that precedes the final one. A 101 is final. */
export function isFinal(status: number): boolean {
  return status >= 200 || status === 101
}

/** The lines of the fields that the route sets. Those about caching are merged with what the backend says of it. */
function setLines(input: ResponseHeadInput, caching: CachingLines | undefined): string {
  const { set, status } = input
  if (set === undefined || !isFinal(status)) return ''
  let lines = ''
  for (let index = 0; index + 1 < set.length; index += 2) {
    const name = set[index] ?? ''
    const value = set[index + 1] ?? ''
    const lower = name.toLowerCase()
    if (!caching?.take(lower, value) && !isWithheld(lower, value, input)) lines += `${name}: ${value}\r\n`
  }
  return lines
}

/** Whether a field of the backend is left out, as the gateway writes it itself or it is not for the client. */
function isWithheld(lower: string, value: string, input: ResponseHeadInput): boolean {
  if (lower === 'set-cookie') return input.ownCookies?.isSetBy(value) === true
  return lower === workerAllowed && isOverPortal(value, input)
}

/** The lines that say what the response varies by, and who may store it. */
function varyingLines(input: ResponseHeadInput, caching: CachingLines | undefined): string {
  const isWorker = mayBecomeWorker(input)
  if (!caching) return isWorker ? varyLine : ''
  if (isWorker) caching.addVary(workerField)
  return caching.lines(input.isAuthenticated)
}

const workerAllowed = 'service-worker-allowed'

/**
 * With `updateViaCache: 'all'` a browser may install a script that a page has fetched as a service worker, straight
 * from its cache. `Vary` on this field makes the browser ask here, where it is refused.
 */
const workerField = 'Service-Worker'
const varyLine = `Vary: ${workerField}\r\n`

/** Whether browsers might take a response for the script of a service worker that reaches the portal. */
function mayBecomeWorker({
  status,
  headers,
  set = [],
  clientPath,
  portalScopes,
}: ResponseHeadInput): boolean {
  if (status < 200 || portalScopes?.isReachedFrom(clientPath) !== true) return false
  return isScript(headers) || isScript(set)
}

function isOverPortal(allowed: string, { clientPath, portalScopes }: ResponseHeadInput): boolean {
  return portalScopes?.isReachedBy(allowed, clientPath) === true
}

interface FieldContext extends Pick<ResponseHeadInput, 'status' | 'mayHaveTrailers'> {
  readonly hasLength: boolean
}

function isDropped(lower: string, { status, mayHaveTrailers, hasLength }: FieldContext): boolean {
  if (lower === 'trailer') return !mayHaveTrailers
  // Without a body there is no length (RFC 9110 8.6): a client that trusted it would wait for one.
  if (lower === 'content-length') return hasLength || status < 200 || status === 204
  return droppedFields.has(lower)
}

function rewriteValue(lower: string, value: string, context: PublicValueContext): string {
  // Several equal lengths count as one.
  if (lower === 'content-length') return value.includes(',') ? value.slice(0, value.indexOf(',')) : value
  return publicValue(lower, value, context)
}

/** The lengths of names that are not simply forwarded. */
const lengths = lengthsOf([
  ...droppedFields,
  'trailer',
  'content-length',
  'date',
  'set-cookie',
  ...pathFields,
  workerAllowed,
])

const lengthsWithCaching = lengths.map((isSpecial, length) => isSpecial | (cachingLengths[length] ?? 0))

/** Names that the upstream's Connection marks as hop-by-hop; undefined where there are none. */
function connectionOptionsOf(headers: readonly string[]): Set<string> | undefined {
  let names: Set<string> | undefined
  for (const value of valuesOf(headers, 'connection')) {
    for (const part of value.toLowerCase().split(',')) {
      const name = part.trim()
      // The framing of the response has been decided: the upstream cannot remove its fields by naming them here.
      if (name !== 'keep-alive' && name !== 'close' && name !== 'content-length')
        names = (names ?? new Set()).add(name)
    }
  }
  return names
}

/** HTTP/1.1 clients get a body of unknown length in chunks. */
export function clientFramingOf(framing: ResponseFraming, { minorVersion }: RequestHead): ResponseFraming {
  if (framing === 'none' || framing === 'counted') return framing
  return minorVersion === 1 ? 'chunked' : 'until-close'
}

/** Whether browsers may take a response for a script (https://mimesniff.spec.whatwg.org/#javascript-mime-type). */
function isScript(headers: readonly string[]): boolean {
  return valuesOf(headers, 'content-type').some((type) => /script/i.test(type))
}

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
  for (const [name, value] of fieldsIn(trailers)) {
    const lower = name.toLowerCase()
    if (
      forbiddenInTrailers.has(lower) ||
      lower.startsWith('access-control-') ||
      rules?.replacedNames.has(lower) ||
      connectionOptions?.has(lower)
    )
      continue
    lines += `${name}: ${value}\r\n`
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
