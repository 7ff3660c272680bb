import { type Credentials, noCredentials } from '../../auth/credentials.ts'
import type { BrowserAccess } from '../../routes/route.ts'
import type { Arrival } from '../arrival.ts'
import { recordReason } from '../outcome.ts'
import { createBrowserFieldReader } from './browser-fields.ts'
import { createSiteRule, type SiteRuleOptions } from './same-site.ts'

/** The credentials of a request on a route that takes the access cookie, where no other came. */
export type ReadAccessCookie = (arrival: Arrival<unknown>, browser: BrowserAccess) => Credentials

export interface AccessCookieOptions extends SiteRuleOptions {
  readonly name: string
}

/** RFC 9110 9.2.1, of the methods that browsers send. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export function createAccessCookieReader({ name, ...siteOptions }: AccessCookieOptions): ReadAccessCookie {
  const readBrowserFields = createBrowserFieldReader(name)
  const checkSite = createSiteRule(siteOptions)

  return function readAccessCookie({ head, client, outcome }, { passesMethodOverride }) {
    const { credentials, site, origin, isWebSocket } = readBrowserFields(head)
    if (credentials.kind === 'none') return noCredentials
    // Where the backend takes the method from a field, a GET may be anything.
    const isUnsafe =
      !safeMethods.has(head.method) || head.upgrade !== undefined || isWebSocket || passesMethodOverride
    const problem = checkSite({ site, origin, client, isUnsafe })
    if (problem === undefined) return credentials
    recordReason(outcome, `the access cookie does not count: ${problem}`)
    return noCredentials
  }
}
