import { keptLines, type MarkedText } from '#http/message/field-lines.ts'
import { mark } from '#http/message/name-table.ts'
import { responseMark } from '#http/outgoing/response-head.ts'
import { type CorsHeaders, everyOrigin } from '../arrival/cors.ts'
import { privateLine, type ResponseCaching } from '../routes/response-fields.ts'
import { isUsualConnection } from './connection-lines.ts'
import type { ForwardTerms } from './forwarded-request.ts'

/** What the lines of an ordinary response depend on. */
interface OrdinaryResponseInput {
  readonly status: number
  readonly mayHaveTrailers: boolean
  readonly caching: ResponseCaching | undefined
  /** undefined = CORS is left to the backend. */
  readonly corsHeaders: CorsHeaders | undefined
  readonly isAuthenticated: boolean
  /** Whether the backend does not see the path as it was sent. */
  readonly isRewritten: boolean
  readonly terms: Pick<ForwardTerms, 'ownCookies' | 'portalScopes'>
}

/** The input and the findings of one reading of a head. All heads share one object, so that none is allocated (hot). */
interface Reading {
  input: OrdinaryResponseInput | undefined
  hasDate: boolean
  hasLength: boolean
  isCachingStated: boolean
}

const reading: Reading = { input: undefined, hasDate: false, hasLength: false, isCachingStated: false }

/**
 * The lines of an ordinary response for the client: as received, without hop-by-hop fields, in slices of the head.
 * @returns undefined if a field has to be rewritten, or if more than its name decides what becomes of it: the response
 *   is then written field by field (rewritten-response.ts)
 */
export function ordinaryResponseLines(
  head: MarkedText,
  input: OrdinaryResponseInput,
): { readonly text: string; readonly hasDate: boolean } | undefined {
  reading.input = input
  reading.hasDate = false
  reading.hasLength = false
  reading.isCachingStated = false
  const lines = keptLines(head, passes)
  if (lines === undefined) return undefined
  const { corsHeaders, caching, isAuthenticated } = input
  const { hasDate, isCachingStated } = reading
  const text = lines + accessAndVaryLines(caching, corsHeaders)
  const isPrivate = caching !== undefined && isAuthenticated && !isCachingStated
  return { text: isPrivate ? text + privateLine : text, hasDate }
}

/** Who may read the response, and what it varies by. */
function accessAndVaryLines(
  caching: ResponseCaching | undefined,
  corsHeaders: CorsHeaders | undefined,
): string {
  if (caching === undefined) return corsHeaders?.lines ?? ''
  if (corsHeaders === undefined) return caching.varyLine
  const { accessLines, origin } = corsHeaders
  return accessLines + (origin === everyOrigin ? caching.varyLine : caching.originVaryLine)
}

/** Whether what the backend says of `Vary`, or of CORS, is forwarded as it is. */
function isLeftToBackend(found: number, { caching, corsHeaders }: OrdinaryResponseInput): boolean {
  return corsHeaders === undefined && (found === responseMark.cors || caching === undefined)
}

/** Whether a line is forwarded to the client; undefined = the response is not ordinary. */
function passes(text: string, found: number, start: number, end: number): boolean | undefined {
  const { input } = reading
  if (input === undefined) return undefined
  switch (found) {
    case responseMark.date:
      reading.hasDate = true
      return true
    case responseMark.caching:
      reading.isCachingStated = true
      return true
    case responseMark.contentType:
      return input.terms.portalScopes !== undefined && /script/i.test(text.slice(start, end))
        ? undefined
        : true
    case mark.contentLength:
      if (reading.hasLength || input.status === 204 || text.slice(start, end).includes(',')) return undefined
      reading.hasLength = true
      return true
    case responseMark.setCookie:
      return input.isRewritten || input.terms.ownCookies.isSetBy(text.slice(start, end)) ? undefined : true
    case responseMark.link:
      // A URL may be one of the target.
      return input.isRewritten || text.slice(start, end).includes('//') ? undefined : true
    case responseMark.vary:
    case responseMark.cors:
      return isLeftToBackend(found, input) ? true : undefined
    case mark.connection:
      return isUsualConnection(text.slice(start, end)) ? false : undefined
    case responseMark.trailer:
      return input.mayHaveTrailers
    case mark.transferEncoding:
    case mark.keepAlive:
    case responseMark.dropped:
      return false
    default:
      return undefined
  }
}
