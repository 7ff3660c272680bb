import { accessCookieCarrier } from '../../auth/carriers.ts'
import { type Credentials, isWithoutCredential } from '../../auth/credentials.ts'
import { GatehouseError } from '../../errors/gatehouse-error.ts'
import { dateLine } from '../../http1/response-writer.ts'
import { type Arrival, credentialsOf } from '../arrival.ts'
import { destinationOf, recordFailure, recordStatus } from '../outcome.ts'
import { answerErrorPage } from '../refusals/problem.ts'
import type { HandOverKeys } from './hand-over.ts'
import { isPageVisit } from './page-visit.ts'
import { continuePath, encodedReturnPath } from './return-path.ts'
import { createVisitCounter, type VisitCounterOptions } from './visit-counter.ts'

/**
 * Answers a refused request where it is a page visit of somebody who has to sign in: with a redirect to the portal, which
 * leads back; or with an error page, where that has not helped several times.
 * @param sentStatus default: 303; 401 for a proxy that follows no redirect, and reads Location itself
 * @returns whether it was answered
 */
export type RedirectToSignIn = (arrival: Arrival, error: GatehouseError, sentStatus?: number) => boolean

export interface SignInRedirectOptions extends VisitCounterOptions {
  /** The path of the portal. */
  readonly portalPath: string
  /** undefined = the portal is on every host. */
  readonly handOver?: HandOverOptions | undefined
}

/** A portal on a host of its own. */
export interface HandOverOptions {
  /** Of the portal. */
  readonly origin: string
  /** The hosts that it leads back to. */
  readonly hosts: { has(hostName: string): boolean }
  readonly keys: Pick<HandOverKeys, 'readOrCreate'>
}

const seeOther = 303
const loopDetail =
  'You are signed in, but the access cookie did not come back, or was refused. Allow cookies for this site, and check the clock of this device; then open the page again.'

export function createSignInRedirect({
  portalPath,
  handOver,
  ...counterOptions
}: SignInRedirectOptions): RedirectToSignIn {
  const visits = createVisitCounter(counterOptions)
  /** Relative where the portal is on every host. */
  const portalUrl = (handOver?.origin ?? '') + portalPath

  return function redirectToSignIn(arrival, error, sentStatus = seeOther) {
    const { connection, outcome, head, requestId } = arrival
    if (!mustSignIn(arrival, error)) return false
    const { target, hostName } = destinationOf(outcome)
    if (handOver && !handOver.hosts.has(hostName)) return false
    const to = encodedReturnPath(target)
    const visit = visits.count(head.rawHeaders, to)
    if (visit.isLoop) {
      const looping = new GatehouseError(error.code, { detail: loopDetail, cause: error.cause })
      answerErrorPage(arrival, looping, portalUrl, visit.line)
      return true
    }
    recordFailure(outcome, error)
    recordStatus(outcome, sentStatus)
    const key = handOver?.keys.readOrCreate(head.rawHeaders)
    const url = portalUrl + continueQuery(to, key && { hostName, challenge: key.challenge })
    // nginx makes one value of two Set-Cookie: it gets the one without which nobody can come back.
    const visitLine = key && sentStatus !== seeOther ? '' : visit.line
    const cookies = visitLine + (key?.line ?? '')
    const lines = `Location: ${url}\r\nCache-Control: no-store\r\n${cookies}${outcome.corsHeaders?.lines ?? ''}`
    connection.respond(
      sentStatus,
      sentStatus === seeOther ? 'See Other' : 'Unauthorized',
      `${lines}X-Request-Id: ${requestId}\r\n${dateLine()}Content-Length: 0\r\n`,
      'none',
    )
    connection.end()
    return true
  }
}

/** @param page where to come back to, if the portal is on another host */
function continueQuery(to: string, page: { hostName: string; challenge: string } | undefined): string {
  const query = [
    ...(to === '' ? [] : [`to=${to}`]),
    ...(page ? [`host=${page.hostName}`, `state=${page.challenge}`] : []),
  ].join('&')
  return continuePath + (query === '' ? '' : `?${query}`)
}

/** A client that sent a credential of its own is told what is wrong with it. */
export function mustSignIn(arrival: Arrival<unknown>, { status }: Pick<GatehouseError, 'status'>): boolean {
  if (arrival.outcome.browser?.signIn !== true || status !== 401) return false
  return isOfBrowser(credentialsOf(arrival)) && isPageVisit(arrival.head)
}

function isOfBrowser(credentials: Credentials): boolean {
  if (credentials.kind === 'bearer') return credentials.carrier === accessCookieCarrier
  return isWithoutCredential(credentials)
}
