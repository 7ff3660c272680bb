import type { Client } from '../forward/client.ts'
import type { BrowserFields } from './browser-fields.ts'

export interface OriginRuleOptions {
  /** Of `publicUrl`. */
  readonly publicOrigin: string
  /** `cors.origins`: pages that are trusted with credentials. */
  readonly origins: readonly string[]
}

export interface SiteRuleOptions extends OriginRuleOptions {
  /** SameSite of the access cookie. */
  readonly sameSite: 'Strict' | 'Lax' | 'None'
}

/** What says which page sent a request. */
export interface PageRequest extends Pick<BrowserFields, 'site' | 'origin'> {
  readonly client: Pick<Client, 'protocol' | 'host'>
}

/** What a request is, as far as the rule depends on it. */
export interface SitedRequest extends PageRequest {
  /** Whether it may change something, or opens a WebSocket. */
  readonly isUnsafe: boolean
}

/** Why a credential that browsers send by themselves does not count, in words for the log; undefined = it does. */
export type SiteRule<Request extends PageRequest = SitedRequest> = (request: Request) => string | undefined

/**
 * The access cookie counts for requests of the same site only, as the browser says in Sec-Fetch-Site, else in Origin:
 * no other site may act as the person who is signed in (CSRF, and its form for WebSockets). What may change something
 * must come from the same origin: another host of the site may belong to somebody else. A page of `cors.origins` is
 * trusted with credentials.
 *
 * A browser that says neither is an old one, or the gateway is called over plain HTTP: then a request that changes
 * nothing counts where the cookie itself is `SameSite=Strict`, as the browser has sent it for the same site only.
 */
export function createSiteRule({ sameSite, ...options }: SiteRuleOptions): SiteRule {
  const findSender = createSenderFinder(options)
  const isStrict = sameSite === 'Strict'

  return function checkSite(request) {
    const { isUnsafe, site } = request
    const sender = findSender(request, isUnsafe ? sameOrigin : sameSites)
    if (sender === 'accepted') return undefined
    if (sender === 'foreign') return isUnsafe || site === undefined ? notSameOrigin : notSameSite
    if (isUnsafe) return 'neither Sec-Fetch-Site nor Origin says which page sent it'
    return isStrict
      ? undefined
      : 'neither Sec-Fetch-Site nor SameSite=Strict says that it is of the same site'
  }
}

/**
 * For what may change something, where programs send the same credential as browsers do, by Basic: a request that says
 * nothing of a page counts too, as programs say nothing.
 */
export function createOriginRule(options: OriginRuleOptions): SiteRule<PageRequest> {
  const findSender = createSenderFinder(options)
  return (request) => (findSender(request, ownOrNoPage) === 'foreign' ? notSameOrigin : undefined)
}

/** The page behind a request; `unknown` where neither field says. */
type Sender = 'accepted' | 'foreign' | 'unknown'

function createSenderFinder({ publicOrigin, origins }: OriginRuleOptions) {
  const trusted = new Set(origins)

  /** @param sites the values of Sec-Fetch-Site that are accepted */
  return function findSender({ site, origin, client }: PageRequest, sites: ReadonlySet<string>): Sender {
    if (origin !== undefined && trusted.has(origin)) return 'accepted'
    if (site !== undefined) return sites.has(site) ? 'accepted' : 'foreign'
    if (origin === undefined) return 'unknown'
    const isOwn = origin === publicOrigin || origin === `${client.protocol}://${client.host}`
    return isOwn ? 'accepted' : 'foreign'
  }
}

const sameOrigin: ReadonlySet<string> = new Set(['same-origin'])
/** `none`: the person typed the address, or chose a bookmark. */
const sameSites: ReadonlySet<string> = new Set(['same-origin', 'same-site', 'none'])
const ownOrNoPage: ReadonlySet<string> = new Set(['same-origin', 'none'])

const notSameOrigin = 'the request comes from a page of another origin'
const notSameSite = 'the request comes from a page of another site'
