import { mark } from '../http1/name-table.ts'
import type { ResponseCaching } from '../routes/route.ts'
import { type MarkedResponse, responseMark } from '../upstream/response-head.ts'
import type { ForwardTerms } from './forwarded-request.ts'

/** What the lines of a final response depend on. */
export interface OrdinaryResponseInput {
  readonly status: number
  readonly mayHaveTrailers: boolean
  readonly caching: ResponseCaching | undefined
  readonly isAuthenticated: boolean
  readonly terms: Pick<ForwardTerms, 'ownCookies' | 'portalScopes'>
}

/** What was found out about the head that is read at this moment. */
const seen = { hasDate: false, hasLength: false, isCachingStated: false }

/**
 * The lines of an ordinary response for the client: those that arrived, without hop-by-hop fields, in slices of the head.
 * @returns undefined where a field has to be rewritten, or more than its name decides about it (see response-head.ts)
 */
export function ordinaryLines(
  { text, fieldsStart, fieldsEnd, marked }: MarkedResponse,
  input: OrdinaryResponseInput,
): { readonly text: string; readonly hasDate: boolean } | undefined {
  if (!marked.isSpacedUsually) return undefined
  const { at, end } = marked
  let lines = ''
  let from = fieldsStart
  seen.hasDate = false
  seen.hasLength = false
  seen.isCachingStated = false
  for (let index = 0; index < end; index += 5) {
    const goesOn = passes(text, at[index] ?? 0, at[index + 2] ?? 0, at[index + 3] ?? 0, input)
    if (goesOn === undefined) return undefined
    if (goesOn) continue
    const start = at[index + 1] ?? 0
    if (start > from) lines += text.slice(from, start)
    from = at[index + 4] ?? 0
  }
  lines += text.slice(from, fieldsEnd)
  const { caching, isAuthenticated } = input
  const { hasDate, isCachingStated } = seen
  if (caching === undefined) return { text: lines, hasDate }
  const isPrivate = isAuthenticated && !isCachingStated
  return { text: lines + (isPrivate ? caching.privateLines : caching.varyLine), hasDate }
}

/** Whether a line goes on to the client; undefined = the response is no ordinary one. */
function passes(
  text: string,
  found: number,
  start: number,
  end: number,
  { status, mayHaveTrailers, caching, terms }: OrdinaryResponseInput,
): boolean | undefined {
  switch (found) {
    case responseMark.date:
      seen.hasDate = true
      return true
    case responseMark.caching:
      seen.isCachingStated = true
      return true
    case responseMark.contentType:
      return terms.portalScopes !== undefined && /script/i.test(text.slice(start, end)) ? undefined : true
    case mark.contentLength:
      if (seen.hasLength || status === 204 || text.slice(start, end).includes(',')) return undefined
      seen.hasLength = true
      return true
    case responseMark.setCookie:
      return terms.ownCookies.isSetBy(text.slice(start, end)) ? undefined : true
    case responseMark.vary:
      return caching === undefined ? true : undefined
    case mark.connection:
      return isUsualConnection(text.slice(start, end)) ? false : undefined
    case responseMark.trailer:
      return mayHaveTrailers
    case mark.transferEncoding:
    case mark.keepAlive:
    case responseMark.dropped:
      return false
    default:
      return undefined
  }
}

function isUsualConnection(value: string): boolean {
  return value === 'keep-alive' || value === 'close' || value === 'Keep-Alive' || value === 'Close'
}
