import { keptLines, type MarkedText } from '#http/h1/field-lines.ts'
import { mark } from '#http/h1/name-table.ts'
import { type ResponseHead, responseMark } from '#http/outgoing/response-head.ts'
import { withoutFields } from '#http/request-head.ts'
import type { Target } from '#http/upstream/target.ts'
import type { Allowance } from '#platform/errors/gatehouse-error.ts'
import { allowanceFields } from '#platform/http.ts'
import { withGatewayCors } from '../arrival/cors.ts'
import { type ResponseCaching, withoutReplaced } from '../routes/response-fields.ts'
import { isFinal, responseHeaderLines, responseTrailerLines, withOwnLines } from './client-head.ts'
import { isUsualConnection } from './connection-lines.ts'
import type { ForwardedRequest, ForwardTerms } from './forwarded-request.ts'
import { atBasePath, readOuterPrefix } from './stripped-prefix.ts'

/**
 * The header lines of the response to a forwarded request, for the client: mostly as they arrived, in a few slices.
 * @param target that has answered; undefined = none was reached
 * @param mayHaveTrailers whether trailers can follow
 */
export function forwardedResponseLines(
  forwarded: ForwardedRequest,
  received: ResponseHead,
  target: Pick<Target, 'origin' | 'basePath'> | undefined,
  mayHaveTrailers: boolean,
): string {
  const { arrival, route, terms, corsHeaders, costField, destination, allowances } = forwarded
  const strippedPrefix = atBasePath(forwarded.strippedPrefix, target?.basePath ?? '')
  const { status, lines } = received
  const isAuthenticated = forwarded.accountId !== undefined
  const { caching, responseHeaders } = route
  const isPlain = corsHeaders === undefined && costField === undefined && responseHeaders === undefined
  const namesLimit = allowances !== undefined && lines !== undefined && limitField.test(lines.text)
  if (lines !== undefined && status >= 200 && isPlain && !namesLimit) {
    const ordinary = ordinaryLines(lines, {
      status,
      mayHaveTrailers,
      caching,
      isAuthenticated,
      isRewritten: strippedPrefix !== undefined,
      terms,
    })
    if (ordinary) {
      const text = ordinary.text + allowanceLines(allowances)
      return withOwnLines(text, ordinary.hasDate, status, arrival.requestId)
    }
  }
  const isLimited = allowances !== undefined && isFinal(status)
  const counted = costField?.remove(received.headers) ?? received.headers
  const unlimited = isLimited ? withoutFields(counted, (name) => limitName.test(name)) : counted
  const headers = withoutReplaced(unlimited, responseHeaders)
  const lastLines = isLimited ? allowanceLines(allowances) : ''
  const sentLines = responseHeaderLines({
    status,
    headers: corsHeaders === undefined ? headers : withGatewayCors(status, headers, corsHeaders),
    set: responseHeaders?.set,
    mayHaveTrailers,
    targetOrigin: target?.origin ?? '',
    client: arrival.client,
    strippedPrefix,
    clientPath: destination.target.path,
    portalScopes: terms.portalScopes,
    requestId: arrival.requestId,
    caching,
    ownCookies: terms.ownCookies,
    isAuthenticated,
  })
  return sentLines + lastLines
}

/** @param received the head of the response */
export function clientTrailerLines(
  { costField, route }: ForwardedRequest,
  received: ResponseHead | undefined,
  trailers: readonly string[],
): string {
  const left = costField?.remove(trailers) ?? trailers
  return responseTrailerLines(left, received?.headers ?? [], route.responseHeaders)
}

/** A backend's own words about limits would contradict those of the gateway. */
const limitField = /\nratelimit(?:-policy|-limit|-remaining|-reset)?:/i
const limitName = /^ratelimit(?:-policy|-limit|-remaining|-reset)?$/

function allowanceLines(allowances: readonly Allowance[] | undefined): string {
  if (allowances === undefined) return ''
  let lines = ''
  const fields = allowanceFields(allowances)
  for (const name in fields) lines += `${name}: ${fields[name]}\r\n`
  return lines
}

/** The lines of `forwardedResponseLines`, with the cookie of a sticky client and the renewed access cookie. */
export function clientResponseLines(
  forwarded: ForwardedRequest,
  received: ResponseHead,
  target: Target | undefined,
  mayHaveTrailers: boolean,
): string {
  const lines = forwardedResponseLines(forwarded, received, target, mayHaveTrailers)
  const sticky = stickyCookieLine(forwarded, target, received.status)
  return lines + sticky + renewedCookieLine(forwarded, received.status, lines)
}

/**
 * A cache that is shared may store Set-Cookie with the response (RFC 9111 7.3), and sign others in by it: so only a
 * response that it must not store renews the cookie. A 304 would add it to one that a browser has stored.
 */
function renewedCookieLine(
  { renewCookie }: Pick<ForwardedRequest, 'renewCookie'>,
  status: number,
  lines: string,
): string {
  if (renewCookie === undefined || status === 304) return ''
  return status === 101 || (status >= 200 && isForOneClient(lines)) ? renewCookie() : ''
}

/** Whether Cache-Control keeps a response out of shared caches, as a whole. */
function isForOneClient(lines: string): boolean {
  const directives = lines
    .toLowerCase()
    .split('\r\n')
    .filter((line) => line.startsWith('cache-control:'))
    .flatMap((line) => line.slice('cache-control:'.length).split(','))
    .map((directive) => directive.trim())
  const isStored = directives.some((each) => each === 'public' || each.startsWith('s-maxage'))
  return !isStored && directives.some((each) => each === 'private' || each === 'no-store')
}

/** The field line by which a client gets the ID of the target that has answered; empty = it has it already. */
function stickyCookieLine(forwarded: ForwardedRequest, target: Target | undefined, status: number): string {
  const { arrival, route, terms } = forwarded
  const { name, targetIds } = route.upstream
  const { stickyCookies } = terms
  if (!target || !targetIds || !stickyCookies || !isFinal(status)) return ''
  const id = targetIds.idOf(target)
  const isKnown = stickyCookies.read(arrival.head.rawHeaders, name).includes(id)
  return isKnown ? '' : stickyCookies.lineFor(name, id, pathOf(forwarded))
}

/** The path of the route as the client sees it. */
function pathOf({ route: { prefix }, arrival: { head, client } }: ForwardedRequest): string {
  const path = (client.isTrusted ? readOuterPrefix(head.rawHeaders) : '') + prefix
  return path === '' ? '/' : path
}

/** What the lines of a final response depend on. */
interface OrdinaryResponseInput {
  readonly status: number
  readonly mayHaveTrailers: boolean
  readonly caching: ResponseCaching | undefined
  readonly isAuthenticated: boolean
  /** Whether the backend does not see the path as it was sent. */
  readonly isRewritten: boolean
  readonly terms: Pick<ForwardTerms, 'ownCookies' | 'portalScopes'>
}

/** What one reading of a head depends on, and what it finds. One object is shared by all heads. */
interface Reading {
  input: OrdinaryResponseInput | undefined
  hasDate: boolean
  hasLength: boolean
  isCachingStated: boolean
}

const reading: Reading = { input: undefined, hasDate: false, hasLength: false, isCachingStated: false }

/**
 * The lines of an ordinary response for the client: as received, without hop-by-hop fields, in slices of the head.
 * @returns undefined if a field has to be rewritten, or its name alone does not decide about it (see client-head.ts)
 */
function ordinaryLines(
  head: MarkedText,
  input: OrdinaryResponseInput,
): { readonly text: string; readonly hasDate: boolean } | undefined {
  reading.input = input
  reading.hasDate = false
  reading.hasLength = false
  reading.isCachingStated = false
  const lines = keptLines(head, passes)
  if (lines === undefined) return undefined
  const { caching, isAuthenticated } = input
  const { hasDate, isCachingStated } = reading
  if (caching === undefined) return { text: lines, hasDate }
  const isPrivate = isAuthenticated && !isCachingStated
  return { text: lines + (isPrivate ? caching.privateLines : caching.varyLine), hasDate }
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
      return input.caching === undefined ? true : undefined
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
