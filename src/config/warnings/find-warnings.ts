import {
  hasEveryIPv4,
  isLoopback,
  isWildcardAddress,
  normalizeHost,
  parseAddressRange,
} from '#platform/addresses.ts'
import { readSealingKeys } from '#platform/secrets/sealing-key.ts'
import { type EpochMs, formatDay, startOfDay } from '#platform/time.ts'
import type { Config } from '../config.ts'
import type { ConfigReadResult } from '../load.ts'
import { findMisspeltVariables } from '../overrides.ts'
import type { Problem, Warning } from '../problem.ts'
import { findOidcProblems } from '../rules/portal.ts'
import {
  findInlineCredentials,
  findNarrowUpstreams,
  findUnresolvedTargets,
  findUnusedTls,
  findUnverifiedUpstreams,
} from '../rules/upstreams.ts'
import { findTossableCookie } from '../schema/access-cookie.ts'
import { findUnsentCookie } from '../schema/browsers.ts'
import { validityProblem } from '../schema/certificates.ts'
import type { ConfigTree } from '../schema/schema.ts'
import { findExpiredSecurityTxt } from '../schema/security-txt.ts'
import { type Environment, findInsecureFileModes } from '../secrets.ts'
import { findCleartextIntrospection, findOpenIssuers, findRolesByDefault } from './issuers.ts'
import {
  findAmbiguousPaths,
  findNoRoutes,
  findPatterns,
  findPrefixProblems,
  findSimilarRoles,
  findSimilarScopes,
  findTakenAuthorization,
  findUnaskedBodies,
  findUncountedCosts,
  findUnheardHsts,
  findWebSocketsWithoutGet,
} from './routes.ts'
import { findUnprotectedRoutes } from './unprotected-routes.ts'

/** The paths of the gateway itself, which take precedence over any route. */
interface OwnPaths {
  has(path: string, hostName: string): boolean
}

interface WarningOptions {
  /** Default: the environment of the process. */
  readonly env?: Environment | undefined
  readonly now?: EpochMs
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
    ...findNoRoutes(tree),
    ...shadowedRoutes(tree, ownPaths),
    ...overlyTrustedProxies(tree),
    ...untrustedDecide(tree),
    ...insecureCookie(tree),
    ...findTossableCookie(tree),
    ...findUnsentCookie(tree),
    ...findUnverifiedUpstreams(tree),
    ...findUnusedTls(tree),
    ...findUnresolvedTargets(tree),
    ...findInlineCredentials(tree),
    ...findWebSocketsWithoutGet(tree),
    ...outdatedCertificate(config, now),
    ...findExpiredSecurityTxt(tree, now),
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
    ...findMisspeltVariables(env, tree),
  ]
  return found.map((warning) => ({ ...warning, source: warning.source ?? sourceOf(warning.path) }))
}

function shadowedRoutes({ routes }: ConfigTree, ownPaths: OwnPaths): Warning[] {
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

function overlyTrustedProxies({ trustedProxies }: ConfigTree): Warning[] {
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
function untrustedDecide({ decide, trustedProxies }: ConfigTree): Warning[] {
  if (!decide || trustedProxies.length > 0) return []
  const message = 'has no effect while trustedProxies is empty'
  return [{ path: ['decide'], message, hint: 'list the proxies that ask it' }]
}

/** Over plain http, anyone on the network path can read credentials and the refresh cookie. */
function insecureCookie({ publicUrl, cookie, listen }: ConfigTree): Warning[] {
  // With listen.tls the connection is secure, and cleartextPublicUrl reports the problems.
  if (listen.tls) return []
  const { protocol, hostname } = new URL(publicUrl)
  if (protocol === 'https:' || isLoopback(hostname)) return []
  const message = `keys and tokens travel unencrypted${cookie.secure === true ? '' : ', and the refresh cookie is not Secure'}`
  return [{ path: ['publicUrl'], message, hint: 'set the https URL that clients use' }]
}

function outdatedCertificate(config: ConfigReadResult['config'], now: EpochMs): Warning[] {
  const message = config?.listen.tls && validityProblem(config.listen.tls.cert, now)
  return message === undefined ? [] : [{ path: ['listen', 'tls', 'cert'], message }]
}

function cleartextPublicUrl({ listen, publicUrl }: ConfigTree): Warning[] {
  if (!listen.tls || URL.parse(publicUrl)?.protocol !== 'http:') return []
  const redirected = listen.redirect ? ', and listen.redirect leads to a port that does not answer' : ''
  const message = `begins with http: but listen.tls serves https, so cookies are not Secure and the issuer is wrong${redirected}`
  return [{ path: ['publicUrl'], message, hint: 'set the https URL' }]
}

/** A replaced sealing key that is still accepted, although no refresh token can need it any more. */
function findLeftSealingKeys({ keys, tokens }: Config, now: EpochMs): Warning[] {
  const since = previousSince(keys.sealingKey)
  if (since === undefined || now < startOfDay(since + 1) + tokens.refreshLifetimeMs) return []
  const message = `a previous key, replaced on ${formatDay(since)}, is still accepted`
  return [{ path: ['keys', 'sealingKey'], message, hint: 'gatehouse sealing-key rotate --drop' }]
}

/** undefined = there is none; problems of the keys themselves are errors, and reported elsewhere. */
function previousSince(source: Config['keys']['sealingKey']): number | undefined {
  try {
    return readSealingKeys(source, { mayCreate: false }).previous?.since
  } catch {
    return undefined
  }
}

/** Addresses and ports that are valid by themselves, but conflict with each other. */
function findAddressConflicts(tree: ConfigTree): Warning[] {
  return [
    ...portMismatch(tree),
    ...loopbackPublicUrl(tree),
    ...untrustedTerminator(tree),
    ...exposedOps(tree),
    ...selfTargets(tree),
  ]
}

/** Without a proxy in front of the gateway, clients use the port that it listens on. */
function portMismatch({ publicUrl, listen, trustedProxies }: ConfigTree): Warning[] {
  const url = new URL(publicUrl)
  const isBehindProxy = trustedProxies.length > 0 || (url.protocol === 'https:' && !listen.tls)
  if (!isLoopback(url.hostname) || isBehindProxy) return []
  if (listen.port === 0 || portOf(url) === listen.port) return []
  const message = `has port ${portOf(url)}, but listen.port is ${listen.port}, so links are broken and the portal rejects forms`
  return [{ path: ['publicUrl'], message, hint: 'use the same port for both' }]
}

/** Clients elsewhere would take a loopback origin for their own machine. */
function loopbackPublicUrl({ publicUrl, listen, portal }: ConfigTree): Warning[] {
  if (!portal.enabled || isLoopback(listen.host) || !isLoopback(new URL(publicUrl).hostname)) return []
  const message =
    'works only for browsers on this machine, but listen.host lets other machines connect, which cannot use the portal'
  return [{ path: ['publicUrl'], message, hint: 'set the URL that clients use' }]
}

/** Something in front of the gateway speaks https with clients, but nothing that it reports about them is trusted. */
function untrustedTerminator({ publicUrl, listen, trustedProxies }: ConfigTree): Warning[] {
  if (listen.tls || new URL(publicUrl).protocol !== 'https:' || trustedProxies.length > 0) return []
  const message =
    'is empty, but publicUrl is https and there is no listen.tls: all clients seem to have the address of the proxy that terminates TLS, in limits and in the log'
  return [{ path: ['trustedProxies'], message, hint: 'list its address' }]
}

function exposedOps({ ops }: ConfigTree): Warning[] {
  if (isLoopback(ops.host)) return []
  const message = 'anyone who reaches this address can read all metrics and POST /reload'
  const hint = 'bind it to a private address, or restrict access to your monitoring'
  return [{ path: ['ops', 'host'], message, hint }]
}

function selfTargets({ upstreams, listen }: ConfigTree): Warning[] {
  return Object.entries(upstreams).flatMap(([name, { targets }]) =>
    [...targets.entries()]
      .filter(([, { url }]) => isSelf(new URL(url), listen))
      .map(([index]) => ({
        path: ['upstreams', name, 'targets', index, 'url'],
        message: 'is the gateway itself, so requests would loop',
        hint: 'use the address of a backend',
      })),
  )
}

function isSelf(url: URL, { host, port }: ConfigTree['listen']): boolean {
  if (url.protocol === 'unix:' || portOf(url) !== port) return false
  // A connection to `0.0.0.0` or `::` goes to this machine.
  const isLocal = isLoopback(url.hostname) || isWildcardAddress(url.hostname)
  return normalizeHost(url.hostname) === normalizeHost(host) || (isLocal && isWildcardAddress(host))
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}
