import { basicCarrier, type Carrier, certificateCarrier } from '#identity/carriers.ts'
import { type Credentials, noCredentials } from '#identity/credentials.ts'
import { type GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import { credentialsOf, type GatedArrival } from '../arrival/arrival.ts'
import type { Client } from '../arrival/client.ts'
import { recordReason } from '../arrival/outcome.ts'
import type { BrowserAccess } from '../routes/route.ts'
import { type BrowserFields, createBrowserFieldReader, isUnsafeRequest } from './browser-fields.ts'

/** Takes the access cookie as the credential of a request that has no other, on a route that allows it. */
export type ReadAccessCookie = (arrival: GatedArrival, browser: BrowserAccess) => Credentials

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
    recordReason(outcome, `the access cookie is ignored: ${problem}`)
    return noCredentials
  }
}

/**
 * Refuses a request whose key a browser sends by itself (Basic, a certificate), even if the key is valid; undefined =
 * it is not refused.
 */
export type CheckAmbientKey = (arrival: GatedArrival) => GatehouseError | undefined

/** What the client is told about a refused key, by its carrier. Keys of other carriers are not refused. */
const details: ReadonlyMap<Carrier | undefined, string> = new Map([
  [
    basicCarrier,
    'A key in Authorization: Basic is not accepted from pages of other origins, because browsers send it by themselves.',
  ],
  [
    certificateCarrier,
    'A client certificate is not accepted as a key from pages of other origins, because browsers send it by themselves.',
  ],
])

/**
 * A browser that was once given a password (RFC 7617 2.2) or a certificate adds it to every request for the host,
 * whichever page makes it. So such a key is as ambient as a cookie: a request that may change something, or that opens
 * a WebSocket, must not come from a page of another origin. Programs send neither Sec-Fetch-Site nor a foreign Origin.
 *
 * A method override does not make a safe method unsafe: a page needs permission through CORS to set that field.
 */
export function createAmbientKeyCheck(options: OriginRuleOptions): CheckAmbientKey {
  const readBrowserFields = createBrowserFieldReader(undefined)
  const checkOrigin = createOriginRule(options)

  return function checkAmbientKey(arrival) {
    const { head, client, outcome } = arrival
    const credentials = credentialsOf(arrival)
    const detail = credentials.kind === 'secretKey' ? details.get(credentials.carrier) : undefined
    if (detail === undefined) return undefined
    const fields = readBrowserFields(head)
    if (!isUnsafeRequest(head, fields)) return undefined
    const { site, origin } = fields
    const problem = checkOrigin({ site, origin, client })
    if (problem === undefined) return undefined
    recordReason(outcome, `a key that browsers send by themselves is refused: ${problem}`)
    return sharedError('cross-site-request', detail)
  }
}

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

/** The parts of a request that a site rule depends on. */
interface SitedRequest extends PageRequest {
  /** Whether it may change something, or opens a WebSocket. */
  readonly isUnsafe: boolean
}

/** Why a credential that browsers send by themselves does not count, for the log; undefined = it counts. */
type SiteRule<Request extends PageRequest = SitedRequest> = (request: Request) => string | undefined

/**
 * The access cookie counts only for requests of the same site, according to Sec-Fetch-Site or else Origin: no other
 * site may act as the person who is signed in (CSRF, also by WebSocket). A request that may change something must come
 * from the same origin, as another host of the site may belong to somebody else. Pages of `cors.origins` are trusted
 * with credentials.
 *
 * Without either field, the browser is old or the gateway is called over plain HTTP. A request that changes nothing
 * then counts if the cookie is `SameSite=Strict`, as the browser has sent it to the same site only.
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
 * The rule for requests that may change something and carry a credential that both programs and browsers send, such as
 * Basic. A request that names no page counts too, as programs never name one.
 */
export function createOriginRule(options: OriginRuleOptions): SiteRule<PageRequest> {
  const findSender = createSenderFinder(options)
  return (request) => (findSender(request, ownOrNoPage) === 'foreign' ? notSameOrigin : undefined)
}

/** The page behind a request; `unknown` where neither field says. */
type Sender = 'accepted' | 'foreign' | 'unknown'

export function createSenderFinder({ publicOrigin, origins }: OriginRuleOptions) {
  const trusted = new Set(origins)

  // `sites` are the values of Sec-Fetch-Site that are accepted.
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
export const sameSites: ReadonlySet<string> = new Set(['same-origin', 'same-site', 'none'])
const ownOrNoPage: ReadonlySet<string> = new Set(['same-origin', 'none'])

const notSameOrigin = 'the request comes from a page of another origin'
const notSameSite = 'the request comes from a page of another site'
