import type { ResponseFraming } from '#http/client-exchange.ts'
import type { ResponseHead } from '#http/outgoing/response-head.ts'
import { withoutFields } from '#http/request-head.ts'
import type { Target } from '#http/upstream/target.ts'
import { allowanceLines } from '#platform/http.ts'
import { withGatewayCors } from '../arrival/cors.ts'
import { withoutReplaced } from '../routes/response-fields.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { ordinaryResponseLines } from './ordinary-response.ts'
import { isFinal, responseHeaderLines, responseTrailerLines, withOwnLines } from './rewritten-response.ts'
import { atBasePath, readOuterPrefix } from './stripped-prefix.ts'

/**
 * The header lines of the response to a forwarded request, for the client: an ordinary response is passed on in slices
 * (ordinary-response.ts), any other field by field (rewritten-response.ts).
 * @param target the one that has answered; undefined = none was reached
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
  const { status, lines: marked } = received
  const isAuthenticated = forwarded.accountId !== undefined
  const { caching, responseHeaders } = route
  const isPlain = costField === undefined && responseHeaders === undefined
  const namesLimit = allowances !== undefined && marked !== undefined && limitField.test(marked.text)
  if (marked !== undefined && status >= 200 && isPlain && !namesLimit) {
    const ordinary = ordinaryResponseLines(marked, {
      status,
      mayHaveTrailers,
      caching,
      corsHeaders,
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
  const withoutCost = costField?.remove(received.headers) ?? received.headers
  const withoutLimits = isLimited ? withoutFields(withoutCost, (name) => limitName.test(name)) : withoutCost
  const headers = withoutReplaced(withoutLimits, responseHeaders)
  const limitLines = isLimited ? allowanceLines(allowances) : ''
  const lines = responseHeaderLines({
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
  return lines + limitLines
}

/**
 * Whether trailers can follow a response, from its target and to its client: HTTP/1.1 needs chunks for them, HTTP/2 has
 * them beside a Content-Length too (RFC 9113 8.1).
 * @param framing that of the target
 */
export function canHaveTrailers({ arrival, route }: ForwardedRequest, framing: ResponseFraming): boolean {
  if (framing === 'counted') return arrival.exchange.isHttp2 && route.upstream.config.protocol === 'http2'
  return framing === 'chunked' && arrival.head.minorVersion === 1
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

/** The lines of `forwardedResponseLines`, with the cookie of a sticky client and the renewed access cookie. */
export function responseLinesWithCookies(
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
 * A shared cache may store Set-Cookie with the response (RFC 9111 7.3), and so sign others in: only a response that
 * such a cache must not store renews the cookie. A 304 would add the cookie to a response that a browser has stored.
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
