import { dateLine } from '#http/h1/response-writer.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { recordFailure, recordStatus } from '../gate/outcome.ts'
import { answerErrorPage } from '../refusals/problem.ts'
import type { Arrival } from '../server/arrival.ts'
import type { FindSignIn } from './find-sign-in.ts'
import type { HandOverKeys } from './hand-over.ts'
import { continuePath } from './return-path.ts'

/**
 * Answers a refused request where it is a page visit of somebody who has to sign in: with a redirect to the portal, which
 * leads back; or with an error page, where that has not helped several times.
 * @param sentStatus default: 303; 401 for a proxy that follows no redirect, and reads Location itself
 * @returns whether it was answered
 */
export type RedirectToSignIn = (arrival: Arrival, error: GatehouseError, sentStatus?: number) => boolean

export interface SignInRedirectOptions {
  readonly findSignIn: FindSignIn
  /** For a portal on a host of its own. */
  readonly handOverKeys: Pick<HandOverKeys, 'readOrCreate'> | undefined
}

/** The status of a redirect to the sign-in: See Other. */
export const signInStatus = 303

export function createSignInRedirect({ findSignIn, handOverKeys }: SignInRedirectOptions): RedirectToSignIn {
  return function redirectToSignIn(arrival, error, sentStatus = signInStatus) {
    const { connection, outcome, head, requestId } = arrival
    const signIn = findSignIn(arrival, error)
    if (!signIn) return false
    const { portalUrl, hostName, returnPath, loopError } = signIn
    if (loopError) {
      answerErrorPage(arrival, loopError, portalUrl, signIn.visitLine)
      return true
    }
    recordFailure(outcome, error)
    recordStatus(outcome, sentStatus)
    const key = handOverKeys?.readOrCreate(head.rawHeaders)
    const url = portalUrl + continueQuery(returnPath, key && { hostName, challenge: key.challenge })
    // nginx makes one value of two Set-Cookie: it gets the one without which nobody can come back.
    const visitLine = key && sentStatus !== signInStatus ? '' : signIn.visitLine
    const cookies = visitLine + (key?.line ?? '')
    const lines = `Location: ${url}\r\nCache-Control: no-store\r\n${cookies}${outcome.corsHeaders?.lines ?? ''}`
    connection.respond(
      sentStatus,
      sentStatus === signInStatus ? 'See Other' : 'Unauthorized',
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
