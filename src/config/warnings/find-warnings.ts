import { readTargetAddress } from '#http/outgoing/dial.ts'
import { hasEveryIPv4, isLoopback, parseAddressRange } from '#platform/addresses.ts'
import { isCredentialField } from '#platform/secrets/hide-secrets.ts'
import type { ConfigReadResult } from '../load.ts'
import { findMisspelledVariables } from '../overrides.ts'
import type { Problem, Warning } from '../problem.ts'
import { findTossableCookie, findUnsentCookie } from '../schema/browsers.ts'
import { validityProblem } from '../schema/certificates.ts'
import type { Environment } from '../secrets.ts'
import { findAddressConflicts, findNarrowUpstreams } from './address-conflicts.ts'
import {
  findCleartextIntrospection,
  findOidcProblems,
  findOpenIssuers,
  findRolesByDefault,
} from './issuers.ts'
import {
  findAmbiguousPaths,
  findPatterns,
  findPrefixProblems,
  findSimilarRoles,
  findSimilarScopes,
  findTakenAuthorization,
  findUnaskedBodies,
  findUncountedCosts,
  findUnheardHsts,
} from './routes.ts'
import { findInsecureFileModes, findLeftSealingKeys } from './secret-files.ts'
import { findUnprotectedRoutes } from './unprotected-routes.ts'

/** The paths of the gateway itself, which take precedence over any route. */
interface OwnPaths {
  has(path: string, hostName: string): boolean
}

type Tree = ConfigReadResult['tree']

interface WarningOptions {
  /** Default: the environment of the process. */
  readonly env?: Environment | undefined
  readonly now?: number
}

/** What a valid config allows but is probably not intended: reported as warnings, not rejected. */
export function findWarnings(
  { config, tree, sourceOf, resolvePath }: ConfigReadResult,
  ownPaths: OwnPaths,
  { env = process.env, now = Date.now() }: WarningOptions = {},
): Problem[] {
  const found: readonly Warning[] = [
    ...(config ? findUnprotectedRoutes(config) : []),
    ...(config ? findAmbiguousPaths(config) : []),
    ...noRoutes(tree),
    ...shadowedRoutes(tree, ownPaths),
    ...overlyTrustedProxies(tree),
    ...untrustedDecide(tree),
    ...insecureCookie(tree),
    ...findTossableCookie(tree),
    ...findUnsentCookie(tree),
    ...unverifiedUpstreams(tree),
    ...unusedTls(tree),
    ...unresolvedTargets(tree),
    ...inlineCredentials(tree),
    ...webSocketsWithoutGet(tree),
    ...outdatedCertificate(config, now),
    ...expiredSecurityTxt(tree, now),
    ...(config ? findLeftSealingKeys(config, now) : []),
    ...cleartextPublicUrl(tree),
    ...findAddressConflicts(tree),
    ...findPrefixProblems(tree),
    ...findPatterns(tree),
    ...findRolesByDefault(tree),
    ...findOpenIssuers(tree),
    ...findCleartextIntrospection(tree),
    ...findOidcProblems(tree),
    ...findSimilarRoles(tree),
    ...findSimilarScopes(tree),
    ...findTakenAuthorization(tree),
    ...findUncountedCosts(tree),
    ...(config ? findUnaskedBodies(config) : []),
    ...findUnheardHsts(tree),
    ...findInsecureFileModes(tree, resolvePath),
    ...findNarrowUpstreams(tree),
    ...findMisspelledVariables(env, tree),
  ]
  return found.map((warning) => ({ ...warning, source: warning.source ?? sourceOf(warning.path) }))
}

function noRoutes({ routes }: Tree): Warning[] {
  const message = "is empty: every request except to the gateway's own paths gets 404"
  return routes.length === 0 ? [{ path: ['routes'], message }] : []
}

function shadowedRoutes({ routes }: Tree, ownPaths: OwnPaths): Warning[] {
  return [...routes.entries()]
    .filter(([, { path, host = '' }]) => ownPaths.has(path.replace(/(?<=.)\/$/, ''), host.toLowerCase()))
    .map(([index, { name }]) => ({
      path: ['routes', index, 'path'],
      message: `route "${name}" is never used: this path belongs to the gateway itself`,
      hint: 'choose another path',
    }))
}

/** A range wider than the largest private network of its family cannot be a list of proxies. */
const bitsMin = { ipv4: 8, ipv6: 7 } as const

function overlyTrustedProxies({ trustedProxies }: Tree): Warning[] {
  return [...trustedProxies.entries()].flatMap(([index, text]) => {
    const range = parseAddressRange(text)
    if (!range) return []
    const isEveryone = hasEveryIPv4(range)
    if (!isEveryone && range.bits >= bitsMin[range.family]) return []
    const who = isEveryone ? 'every client' : 'a large part of the Internet'
    const message = `X-Forwarded-* is trusted from ${who}`
    return [{ path: ['trustedProxies', index], message, hint: 'list only the proxies' }]
  })
}

/** The listener only trusts proxies in the list, so it answers nobody. */
function untrustedDecide({ decide, trustedProxies }: Tree): Warning[] {
  if (!decide || trustedProxies.length > 0) return []
  const message = 'has no effect while trustedProxies is empty'
  return [{ path: ['decide'], message, hint: 'list the proxies that ask it' }]
}

/** Over plain http, anyone on the network path can read credentials and the refresh cookie. */
function insecureCookie({ publicUrl, cookie, listen }: Tree): Warning[] {
  // With listen.tls the connection is secure, and cleartextPublicUrl reports the problems.
  if (listen.tls) return []
  const { protocol, hostname } = new URL(publicUrl)
  if (protocol === 'https:' || isLoopback(hostname)) return []
  const message = `keys and tokens travel unencrypted${cookie.secure === true ? '' : ', and the refresh cookie is not Secure'}`
  return [{ path: ['publicUrl'], message, hint: 'set the https URL that clients use' }]
}

function unverifiedUpstreams({ upstreams }: Tree): Warning[] {
  return Object.entries(upstreams)
    .filter(
      ([, { tls, targets }]) =>
        !tls.verify && targets.some(({ url }) => URL.parse(url)?.protocol === 'https:'),
    )
    .map(([name]) => ({
      path: ['upstreams', name, 'tls', 'verify'],
      message: "the backend's certificate is not verified",
      hint: 'set its CA as tls.ca instead',
    }))
}

/** Nothing is spoken with TLS where no target is https. */
function unusedTls({ upstreams }: Tree): Warning[] {
  return Object.entries(upstreams)
    .filter(([, { targets }]) => !targets.some(({ url }) => URL.parse(url)?.protocol === 'https:'))
    .flatMap(([name, { tls }]) =>
      (['serverName', 'cert'] as const)
        .filter((option) => tls[option] !== undefined)
        .map((option) => ({
          path: ['upstreams', name, 'tls', option],
          message: 'has no effect: no target of this upstream is https',
          hint: 'use https:// in the url of its targets',
        })),
    )
}

/** Only host names have addresses that change. */
function unresolvedTargets({ upstreams }: Tree): Warning[] {
  return Object.entries(upstreams)
    .filter(([, { resolve, targets }]) => resolve === 'all' && !targets.some(({ url }) => hasHostName(url)))
    .map(([name]) => ({
      path: ['upstreams', name, 'resolve'],
      message: 'has no effect: no target of this upstream has a host name',
      hint: 'use host names in the url of its targets',
    }))
}

function hasHostName(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && readTargetAddress(url).serverName !== undefined
}

/** A text can be read by anybody who can read the file. */
function inlineCredentials({ upstreams }: Tree): Warning[] {
  return Object.entries(upstreams).flatMap(([name, { headers }]) =>
    Object.entries(headers.set)
      .filter(([field, value]) => typeof value === 'string' && isCredentialField(field, value))
      .map(([field]) => ({
        path: ['upstreams', name, 'headers', 'set', field],
        message: 'looks like a credential, and everyone who reads the config can see it',
        hint: 'use { file: … }, { env: … } or { credential: … }',
      })),
  )
}

function webSocketsWithoutGet({ routes }: Tree): Warning[] {
  return [...routes.entries()]
    .filter(([, { websocket, methods }]) => websocket && methods !== undefined && !methods.includes('GET'))
    .map(([index, { name }]) => ({
      path: ['routes', index, 'websocket'],
      message: `route "${name}" does not accept GET, which WebSockets need`,
      hint: 'add GET to its methods',
    }))
}

function outdatedCertificate(config: ConfigReadResult['config'], now: number): Warning[] {
  const message = config?.listen.tls && validityProblem(config.listen.tls.cert, now)
  return message === undefined ? [] : [{ path: ['listen', 'tls', 'cert'], message }]
}

function expiredSecurityTxt({ securityTxt }: Tree, now: number): Warning[] {
  if (!securityTxt || now < Date.parse(`${securityTxt.expires}T23:59:59Z`)) return []
  const message = `security.txt has expired: its readers need not trust it`
  return [{ path: ['securityTxt', 'expires'], message, hint: 'check the contacts and set a later day' }]
}

function cleartextPublicUrl({ listen, publicUrl }: Tree): Warning[] {
  if (!listen.tls || URL.parse(publicUrl)?.protocol !== 'http:') return []
  const redirected = listen.redirect ? ', and listen.redirect leads to a port that does not answer' : ''
  const message = `begins with http: but listen.tls serves https, so cookies are not Secure and the issuer is wrong${redirected}`
  return [{ path: ['publicUrl'], message, hint: 'set the https URL' }]
}
