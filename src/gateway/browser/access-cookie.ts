import { type Credentials, noCredentials } from '#identity/credentials.ts'
import { recordReason } from '../gate/outcome.ts'
import type { BrowserAccess } from '../routes/route.ts'
import type { Arrival } from '../server/arrival.ts'
import { createBrowserFieldReader } from './browser-fields.ts'
import { createSiteRule, type SiteRuleOptions } from './same-site.ts'
import { isUnsafeRequest } from './unsafe-request.ts'

/** The credentials of a request on a route that takes the access cookie, where no other came. */
export type ReadAccessCookie = (arrival: Arrival<unknown>, browser: BrowserAccess) => Credentials

export interface AccessCookieOptions extends SiteRuleOptions {
  readonly name: string
}

export function createAccessCookieReader({ name, ...siteOptions }: AccessCookieOptions): ReadAccessCookie {
  const readBrowserFields = createBrowserFieldReader(name)
  const checkSite = createSiteRule(siteOptions)

  return function readAccessCookie({ head, client, outcome }, { passesMethodOverride }) {
    const fields = readBrowserFields(head)
    const { credentials, site, origin } = fields
    if (credentials.kind === 'none') return noCredentials
    // Where the backend takes the method from a field, a GET may be anything.
    const isUnsafe = passesMethodOverride || isUnsafeRequest(head, fields)
    const problem = checkSite({ site, origin, client, isUnsafe })
    if (problem === undefined) return credentials
    recordReason(outcome, `the access cookie does not count: ${problem}`)
    return noCredentials
  }
}
