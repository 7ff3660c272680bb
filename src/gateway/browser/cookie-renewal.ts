import { createLru } from '#identity/cache/bounded-caches.ts'
import type { Directory } from '#identity/directory.ts'
import type { AccessTokens } from '#identity/tokens/access-token.ts'
import { tokenMaxAgeS } from '#identity/tokens/jwt.ts'
import { cookieAttributes, type TokenCookie } from '#platform/http.ts'
import { type Arrival, credentialsOf, type GatedArrival } from '../arrival/arrival.ts'
import { createSenderFinder, sameSites } from './ambient-credentials.ts'
import { createBrowserFieldReader } from './browser-fields.ts'

/**
 * Renews the access cookie of a request that it has admitted.
 * @returns a function to call when the response has arrived. It returns the Set-Cookie line, ended by CR LF, or an
 *   empty text if the cookie is in its first half, or the sign-in is over by then. Undefined = this request never
 *   renews it.
 */
export type RenewAccessCookie = (arrival: Arrival) => (() => string) | undefined

interface CookieRenewalOptions {
  readonly accessTokens: Pick<AccessTokens, 'renew'>
  readonly directory: Pick<Directory, 'session'>
  readonly cookie: TokenCookie
  /** The origin of `publicUrl`. */
  readonly publicOrigin: string
}

/** Renewed tokens that are kept for parallel requests, about 1 KiB each; beyond that, some are signed more often. */
const renewedMax = 1_000

export function createCookieRenewal(options: CookieRenewalOptions): RenewAccessCookie {
  const { accessTokens, directory, cookie, publicOrigin } = options
  // No page of another site may cause a renewal, not even one of `cors.origins`.
  const isOfThisSite = createOwnSiteCheck(publicOrigin)
  const renewed = createLru<{ readonly token: string }>(renewedMax)
  const attributes = cookieAttributes(cookie)

  function renewOnce(token: string): string | undefined {
    const known = renewed.get(token)
    if (known !== undefined) return known.token
    const next = accessTokens.renew(token)
    if (next !== undefined) renewed.set(token, { token: next })
    return next
  }

  function lineFor(token: string, sessionId: string): string {
    try {
      const session = directory.session(sessionId)
      // It was read for the decision. If it had to be read again, the next request renews the cookie.
      if (session === undefined || session instanceof Promise || session.isEnded) return ''
      const next = renewOnce(token)
      if (next === undefined) return ''
      return `Set-Cookie: ${cookie.name}=${next}; Max-Age=${tokenMaxAgeS(next)}${attributes}\r\n`
    } catch {
      // Without the store or a signing key: the cookie still counts, and a later request renews it.
      return ''
    }
  }

  return function renewAccessCookie(arrival) {
    const { decision } = arrival.outcome
    if (decision?.kind !== 'allowed' || decision.scheme !== 'cookie') return undefined
    const credentials = credentialsOf(arrival)
    const sessionId = decision.principal?.sessionId
    if (credentials.kind !== 'bearer' || sessionId === undefined || !isOfThisSite(arrival)) return undefined
    const { text } = credentials
    return () => lineFor(text, sessionId)
  }
}

/** Whether a request comes from a page of this site, or from no page: then no other site has caused it. */
function createOwnSiteCheck(publicOrigin: string): (arrival: GatedArrival) => boolean {
  const readBrowserFields = createBrowserFieldReader(undefined)
  const findSender = createSenderFinder({ publicOrigin, origins: [] })
  return ({ head, client }) => {
    const { site, origin } = readBrowserFields(head)
    return findSender({ site, origin, client }, sameSites) !== 'foreign'
  }
}
