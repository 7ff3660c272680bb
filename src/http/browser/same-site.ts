import type { Client } from '../../proxy/client.ts'
import type { BrowserFields } from './browser-fields.ts'

export interface SiteRuleOptions {
  /** Of `publicUrl`. */
  readonly publicOrigin: string
  /** `cors.origins`: pages that are trusted with credentials. */
  readonly origins: readonly string[]
  /** SameSite of the access cookie. */
  readonly sameSite: 'Strict' | 'Lax' | 'None'
}

/** What a request is, as far as the rule depends on it. */
export interface SitedRequest extends Pick<BrowserFields, 'site' | 'origin'> {
  readonly client: Pick<Client, 'protocol' | 'host'>
  /** Whether it may change something, or opens a WebSocket. */
  readonly isUnsafe: boolean
}

/** Why the access cookie does not count, in words for the log; undefined = it does. */
export type SiteRule = (request: SitedRequest) => string | undefined

/**
 * The access cookie counts for requests of the same site only, as the browser says in Sec-Fetch-Site, else in Origin:
 * no other site may act as the person who is signed in (CSRF, and its form for WebSockets). What may change something
 * must come from the same origin: another host of the site may belong to somebody else. A page of `cors.origins` is
 * trusted with credentials.
 *
 * A browser that says neither is an old one, or the gateway is called over plain HTTP: then a request that changes
 * nothing counts where the cookie itself is `SameSite=Strict`, as the browser has sent it for the same site only.
 */
export function createSiteRule({ publicOrigin, origins, sameSite }: SiteRuleOptions): SiteRule {
  const trusted = new Set(origins)
  const isStrict = sameSite === 'Strict'

  return function checkSite({ site, origin, client, isUnsafe }) {
    if (origin !== undefined && trusted.has(origin)) return undefined
    if (site !== undefined) return isUnsafe ? problemOfUnsafe(site) : problemOfSafe(site)
    if (origin !== undefined) {
      const isOwn = origin === publicOrigin || origin === `${client.protocol}://${client.host}`
      return isOwn ? undefined : notSameOrigin
    }
    if (isUnsafe) return 'neither Sec-Fetch-Site nor Origin says which page sent it'
    return isStrict
      ? undefined
      : 'neither Sec-Fetch-Site nor SameSite=Strict says that it is of the same site'
  }
}

function problemOfUnsafe(site: string): string | undefined {
  return site === 'same-origin' ? undefined : notSameOrigin
}

function problemOfSafe(site: string): string | undefined {
  return sameSites.has(site) ? undefined : notSameSite
}

/** `none`: the person typed the address, or chose a bookmark. */
const sameSites: ReadonlySet<string> = new Set(['same-origin', 'same-site', 'none'])

const notSameOrigin = 'the request comes from a page of another origin'
const notSameSite = 'the request comes from a page of another site'
