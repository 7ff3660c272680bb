import { type Credentials, isWithoutCredential } from '#identity/credentials.ts'
import { accessCookieCarrier } from '#identity/keys/carriers.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { destinationOf } from '../gate/outcome.ts'
import { type Arrival, credentialsOf } from '../server/arrival.ts'
import { isPageVisit } from './page-visit.ts'
import { encodedReturnPath } from './return-path.ts'
import { createVisitCounter, type VisitCounterOptions } from './visit-counter.ts'

/** Where somebody signs in, and comes back to. */
export interface SignIn {
  /** Of the portal; relative where it is on every host. */
  readonly portalUrl: string
  readonly hostName: string
  /** The path and query to come back to, encoded once more, as a value of a query; empty where they are too long. */
  readonly returnPath: string
  /** The Set-Cookie line that counts the visit, ended by CR LF. */
  readonly visitLine: string
  /** What to answer in place of a redirect where signing in has not helped several times. */
  readonly loopError: GatehouseError | undefined
}

/** The sign-in that a refused request is led to; undefined where it is no page visit of somebody who has to sign in. */
export type FindSignIn = (arrival: Arrival<unknown>, error: GatehouseError) => SignIn | undefined

export interface SignInOptions extends VisitCounterOptions {
  /** The path of the portal. */
  readonly portalPath: string
  /** A portal on a host of its own; undefined = it is on every host. */
  readonly portalHost?: PortalHost | undefined
}

export interface PortalHost {
  readonly origin: string
  /** The hosts that it leads back to. */
  readonly hosts: { has(hostName: string): boolean }
}

const loopDetail =
  'You are signed in, but the access cookie did not come back, or was refused. Allow cookies for this site, and check the clock of this device; then open the page again.'

export function createSignInFinder({ portalPath, portalHost, ...counterOptions }: SignInOptions): FindSignIn {
  const visits = createVisitCounter(counterOptions)
  const portalUrl = (portalHost?.origin ?? '') + portalPath

  return function findSignIn(arrival, error) {
    if (!mustSignIn(arrival, error)) return undefined
    const { target, hostName } = destinationOf(arrival.outcome)
    if (portalHost && !portalHost.hosts.has(hostName)) return undefined
    const returnPath = encodedReturnPath(target)
    const { isLoop, line } = visits.count(arrival.head.rawHeaders, returnPath)
    const loopError = isLoop
      ? new GatehouseError(error.code, { detail: loopDetail, cause: error.cause })
      : undefined
    return { portalUrl, hostName, returnPath, visitLine: line, loopError }
  }
}

/** A client that sent a credential of its own is told what is wrong with it. */
function mustSignIn(arrival: Arrival<unknown>, { status }: GatehouseError): boolean {
  if (arrival.outcome.browser?.signIn !== true || status !== 401) return false
  return isOfBrowser(credentialsOf(arrival)) && isPageVisit(arrival.head)
}

function isOfBrowser(credentials: Credentials): boolean {
  if (credentials.kind === 'bearer') return credentials.carrier === accessCookieCarrier
  return isWithoutCredential(credentials)
}
