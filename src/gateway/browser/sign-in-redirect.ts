import { hash } from 'node:crypto'
import { onlyValueOf, type RequestHead } from '#http/request-head.ts'
import { accessCookieCarrier } from '#identity/carriers.ts'
import { type Credentials, isWithoutCredential } from '#identity/credentials.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { cookieAttributes, dateLine } from '#platform/http.ts'
import { type Arrival, credentialsOf, type GatedArrival } from '../arrival/arrival.ts'
import { destinationOf, recordFailure, recordStatus } from '../arrival/outcome.ts'
import { prefersHtml } from '../refusals/problem-text.ts'
import { answerErrorPage } from '../refusals/send-problem.ts'
import { cookieValuesIn } from './browser-fields.ts'
import { continuePath, encodedReturnPath, type ReturnKeys } from './sign-in-return.ts'

/**
 * Answers a refused page visit of somebody who has to sign in: with a redirect to the portal, which leads back, or with
 * an error page if that has failed several times.
 * @param sentStatus default: 303, which is logged in any case; 401 for a proxy that follows no redirect, and reads
 *   Location itself
 * @returns whether it was answered
 */
export type RedirectToSignIn = (arrival: Arrival, error: GatehouseError, sentStatus?: number) => boolean

interface SignInRedirectOptions {
  readonly findSignIn: FindSignIn
  /** Set if the portal has a host of its own. */
  readonly returnKeys: Pick<ReturnKeys, 'readOrCreate'> | undefined
}

/** The status of a redirect to the sign-in: See Other. */
export const signInStatus = 303

export function createSignInRedirect({ findSignIn, returnKeys }: SignInRedirectOptions): RedirectToSignIn {
  return function redirectToSignIn(arrival, error, sentStatus = signInStatus) {
    const { exchange, outcome, head, requestId } = arrival
    const signIn = findSignIn(arrival, error)
    if (!signIn) return false
    const { portalUrl, hostName, returnPath, loopError } = signIn
    if (loopError) {
      answerErrorPage(arrival, loopError, portalUrl, signIn.visitLine)
      return true
    }
    recordFailure(outcome, error)
    recordStatus(outcome, signInStatus)
    const key = returnKeys?.readOrCreate(head.rawHeaders)
    const url = portalUrl + continueQuery(returnPath, key && { hostName, challenge: key.challenge })
    // nginx turns two Set-Cookie fields into one value, so it only gets the one that is needed to come back.
    const visitLine = key && sentStatus !== signInStatus ? '' : signIn.visitLine
    const cookies = visitLine + (key?.line ?? '')
    const lines = `Location: ${url}\r\nCache-Control: no-store\r\n${cookies}${outcome.corsHeaders?.lines ?? ''}`
    exchange.respond(
      sentStatus,
      sentStatus === signInStatus ? 'See Other' : 'Unauthorized',
      `${lines}X-Request-Id: ${requestId}\r\n${dateLine()}Content-Length: 0\r\n`,
      'none',
    )
    exchange.end()
    return true
  }
}

/** @param page the page to return to, if the portal is on another host */
function continueQuery(to: string, page: { hostName: string; challenge: string } | undefined): string {
  const query = [
    ...(to === '' ? [] : [`to=${to}`]),
    ...(page ? [`host=${page.hostName}`, `state=${page.challenge}`] : []),
  ].join('&')
  return continuePath + (query === '' ? '' : `?${query}`)
}

export interface SignInTarget {
  /** The URL of the portal; relative where it is on every host. */
  readonly portalUrl: string
  readonly hostName: string
  /** The path and query to return to, encoded once more as a query value; empty if they are too long. */
  readonly returnPath: string
  /** The Set-Cookie line that counts the visit, ended by CR LF. */
  readonly visitLine: string
  /** The answer in place of a redirect if signing in has failed to help several times. */
  readonly loopError: GatehouseError | undefined
}

/** Finds the sign-in for a refused request; undefined if it is not a page visit of somebody who has to sign in. */
export type FindSignIn = (arrival: GatedArrival, error: GatehouseError) => SignInTarget | undefined

interface SignInOptions {
  readonly portalPath: string
  /** Whether the cookie that counts visits is Secure. */
  readonly isSecure: boolean
  /**
   * The origin of a portal on a host of its own, and the hosts that it leads back to; undefined = it is on every host.
   */
  readonly portalHost?:
    | { readonly origin: string; readonly hosts: { has(hostName: string): boolean } }
    | undefined
}

const loopDetail =
  'You are signed in, but the access cookie did not come back, or was refused. Allow cookies for this site, and check the clock of this device; then open the page again.'

export function createSignInFinder({ portalPath, portalHost, isSecure }: SignInOptions): FindSignIn {
  const countVisit = createVisitCounter(isSecure)
  const portalUrl = (portalHost?.origin ?? '') + portalPath

  return function findSignIn(arrival, error) {
    if (!mustSignIn(arrival, error)) return undefined
    const { target, hostName } = destinationOf(arrival.outcome)
    if (portalHost && !portalHost.hosts.has(hostName)) return undefined
    const returnPath = encodedReturnPath(target)
    const { isLoop, line } = countVisit(arrival.head.rawHeaders, returnPath)
    const loopError = isLoop
      ? new GatehouseError(error.code, { detail: loopDetail, cause: error.cause })
      : undefined
    return { portalUrl, hostName, returnPath, visitLine: line, loopError }
  }
}

/** A client that sent a credential is not redirected, but told what is wrong with it. */
function mustSignIn(arrival: GatedArrival, { status }: GatehouseError): boolean {
  if (arrival.outcome.browser?.signIn !== true || status !== 401) return false
  return isOfBrowser(credentialsOf(arrival)) && isPageVisit(arrival.head)
}

function isOfBrowser(credentials: Credentials): boolean {
  if (credentials.kind === 'bearer') return credentials.carrier === accessCookieCarrier
  return isWithoutCredential(credentials)
}

/** The name of the cookie that counts visits. No backend gets it. */
export const visitCookieName = 'gatehouse-visit'

/** A browser that keeps its cookie comes back once; browsers themselves give up after 20 redirects, two each time. */
const visitsMax = 5
/** Coming back takes a fraction of a second; a person who goes back and forth takes longer. */
const maxAgeS = 15
const pageLength = 12

/**
 * Counts, in a cookie, how often a browser was sent to the sign-in from the same page within some seconds.
 * @returns a function that says whether signing in does not help, so that the browser would be redirected for ever, and
 *   gives the Set-Cookie field line of the response
 */
function createVisitCounter(isSecure: boolean) {
  // Lax, as a visit that comes from another site must be counted too.
  const attributes = cookieAttributes({ path: '/', sameSite: 'Lax', isSecure })

  return function countVisit(rawHeaders: readonly string[], page: string) {
    const key = hash('sha256', page, 'base64url').slice(0, pageLength)
    const count = lastCount(rawHeaders, key) + 1
    const isLoop = count > visitsMax
    const cookie = isLoop
      ? `${visitCookieName}=; Max-Age=0${attributes}`
      : `${visitCookieName}=${key}.${count}; Max-Age=${maxAgeS}${attributes}`
    return { isLoop, line: `Set-Cookie: ${cookie}\r\n` }
  }
}

/** How often the browser was recently sent to sign in from this page; 0 if it was another page. */
function lastCount(rawHeaders: readonly string[], key: string): number {
  const counts = cookieValuesIn(rawHeaders, visitCookieName)
    .filter((value) => value.startsWith(`${key}.`))
    .map((value) => value.slice(key.length + 1))
  return Number(counts.find((digits) => /^\d{1,2}$/.test(digits)) ?? 0)
}

/**
 * Whether a browser will show the response as a page: not in a frame, where the sign-in is not shown, nor as an image,
 * a download or data for a script. A browser that sends no Sec-Fetch-* is recognised by an Accept that prefers HTML.
 */
export function isPageVisit(head: RequestHead): boolean {
  const { method, rawHeaders, upgrade } = head
  if ((method !== 'GET' && method !== 'HEAD') || upgrade !== undefined) return false
  const mode = onlyValueOf(rawHeaders, 'sec-fetch-mode')
  const destination = onlyValueOf(rawHeaders, 'sec-fetch-dest')
  if (mode === undefined && destination === undefined) return prefersHtml(head)
  return (mode ?? 'navigate') === 'navigate' && (destination ?? 'document') === 'document'
}
