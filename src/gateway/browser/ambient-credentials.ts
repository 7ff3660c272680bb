import { type Credentials, noCredentials } from '#identity/credentials.ts'
import { type GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import type { Client } from '../forward/client.ts'
import { recordReason } from '../gate/outcome.ts'
import type { BrowserAccess } from '../routes/route.ts'
import { type Arrival, credentialsOf } from '../server/arrival.ts'
import { type BrowserFields, createBrowserFieldReader, isUnsafeRequest } from './browser-fields.ts'

/** The credentials of a request on a route that takes the access cookie, where no other came. */
export type ReadAccessCookie = (arrival: Arrival<unknown>, browser: BrowserAccess) => Credentials

interface AccessCookieOptions extends SiteRuleOptions {
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

/** Why a request whose key came by Basic is refused, valid as the key may be; undefined = it is not. */
export type CheckBasicKey = (arrival: Arrival<unknown>) => GatehouseError | undefined

/**
 * A browser that was once given a password adds it to every request for the host (RFC 7617 2.2), whichever page sends
 * it: so a key that came by Basic is as ambient as a cookie, and what may change something, or opens a WebSocket, must
 * not come from a page of another origin. Programs send neither Sec-Fetch-Site nor a foreign Origin.
 *
 * A method override makes no method unsafe: a page needs the leave of CORS to set its field.
 */
export function createBasicKeyCheck(options: OriginRuleOptions): CheckBasicKey {
  const readBrowserFields = createBrowserFieldReader(undefined)
  const checkOrigin = createOriginRule(options)

  return function checkBasicKey(arrival) {
    const { head, client, outcome } = arrival
    const credentials = credentialsOf(arrival)
    if (credentials.kind !== 'secretKey' || credentials.carrier !== 'basic') return undefined
    const fields = readBrowserFields(head)
    if (!isUnsafeRequest(head, fields)) return undefined
    const { site, origin } = fields
    const problem = checkOrigin({ site, origin, client })
    if (problem === undefined) return undefined
    recordReason(outcome, `the key in Authorization: Basic does not count: ${problem}`)
    return sharedError('cross-site-request', detail)
  }
}

const detail =
  'A key in Authorization: Basic is not accepted from pages of other origins, as browsers send it by themselves.'

export interface OriginRuleOptions {
  /** The origin of `publicUrl`. */
  readonly publicOrigin: string
  /** `cors.origins`: pages that are trusted with credentials. */
  readonly origins: readonly string[]
}

interface SiteRuleOptions extends OriginRuleOptions {
  /** SameSite of the access cookie. */
  readonly sameSite: 'Strict' | 'Lax' | 'None'
}

/** The parts of a request that tell which page sent it. */
interface PageRequest extends Pick<BrowserFields, 'site' | 'origin'> {
  readonly client: Pick<Client, 'protocol' | 'host'>
}

/** What a request is, as far as the rule depends on it. */
interface SitedRequest extends PageRequest {
  /** Whether it may change something, or opens a WebSocket. */
  readonly isUnsafe: boolean
}

/** Why a credential that browsers send by themselves does not count, in words for the log; undefined = it does. */
type SiteRule<Request extends PageRequest = SitedRequest> = (request: Request) => string | undefined

/**
 * The access cookie counts for requests of the same site only, as the browser says in Sec-Fetch-Site, else in Origin:
 * no other site may act as the person who is signed in (CSRF, and its form for WebSockets). What may change something
 * must come from the same origin: another host of the site may belong to somebody else. A page of `cors.origins` is
 * trusted with credentials.
 *
 * A browser that says neither is an old one, or the gateway is called over plain HTTP: then a request that changes
 * nothing counts where the cookie itself is `SameSite=Strict`, as the browser has sent it for the same site only.
 */
function createSiteRule({ sameSite, ...options }: SiteRuleOptions): SiteRule {
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
