import type { Config } from '#config/config.ts'
import { createAccessCookieReader } from '#gateway/browser/ambient-credentials.ts'
import {
  createSignInFinder,
  createSignInRedirect,
  visitCookieName,
} from '#gateway/browser/sign-in-redirect.ts'
import { createReturnKeys, returnCookieNames } from '#gateway/browser/sign-in-return.ts'
import { createHeaderRules } from '#gateway/forward/header-rules.ts'
import { type AssertionHeader, createIdentityWriter } from '#gateway/forward/identity-headers.ts'
import {
  createOwnCookies,
  createStickyCookies,
  type OwnCookies,
  stickyCookieName,
} from '#gateway/forward/own-cookies.ts'
import { createRequestWriter } from '#gateway/forward/upstream-head.ts'
import { signInHostsOf } from '#gateway/routes/own-paths.ts'
import { createLru } from '#identity/cache/bounded-caches.ts'
import type { Carriers } from '#identity/carriers.ts'
import { type CachedAssertion, createAssertionIssuer } from '#identity/tokens/assertion.ts'
import { looksLikeAccessToken } from '#identity/tokens/jwt.ts'
import { portalCookieNames } from '#portal/cookies.ts'
import type { CallerAuth } from './caller-auth.ts'
import type { ConfigParts } from './store-parts.ts'

/**
 * Parts for browsers that cannot set headers: all undefined if the access cookie is not enabled. Without the portal
 * nobody is sent to sign in.
 */
export function createBrowserParts({ accessCookie, cors, portal, publicOrigin, routes }: Config) {
  const { enabled, name, sameSite, isSecure } = accessCookie
  if (!enabled) return { readAccessCookie: undefined, findSignIn: undefined, redirectToSignIn: undefined }
  const isAlone = portal.host !== undefined
  const portalHost = isAlone
    ? { origin: portal.origin, hosts: signInHostsOf(routes, publicOrigin) }
    : undefined
  const findSignIn = portal.enabled
    ? createSignInFinder({ portalPath: portal.path, isSecure, portalHost })
    : undefined
  const returnKeys = isAlone ? createReturnKeys(publicOrigin.startsWith('https:')) : undefined
  return {
    readAccessCookie: createAccessCookieReader({ name, sameSite, publicOrigin, origins: cors.origins }),
    findSignIn,
    redirectToSignIn: findSignIn && createSignInRedirect({ findSignIn, returnKeys }),
  }
}

/**
 * The cookies that no backend gets or sets. If the access cookie is not enabled, its name belongs to the backends, but
 * tokens in it are still ours: browsers may have them from before the config was changed.
 */
function createOwnCookiesFrom(
  { accessCookie: { name, enabled }, cookie, portal }: Config,
  sticky: readonly string[],
): OwnCookies {
  return createOwnCookies({
    names: [cookie.name, ...(portal.enabled ? portalCookieNames : []), ...sticky.map(stickyCookieName)],
    anyCase: enabled ? [name, visitCookieName, ...returnCookieNames] : [],
    others: enabled ? [] : [{ name, isOwn: looksLikeAccessToken }],
  })
}

/**
 * What writes the heads of requests to upstreams, by the names and rules of a config.
 * @param assertion undefined = no assertions are sent
 */
export function createForwardParts(
  config: Config,
  carriers: Carriers,
  assertion: AssertionHeader | undefined,
) {
  /** The names of the upstreams whose targets cookies name. */
  const sticky = config.upstreams.filter(({ balancing }) => balancing === 'sticky').map(({ name }) => name)
  const ownCookies = createOwnCookiesFrom(config, sticky)
  const writeIdentity = createIdentityWriter(config.identityHeaders)
  const rules = createHeaderRules(ownHeaderNames(config), carriers)
  return {
    ownCookies,
    stickyCookies: createStickyCookies(sticky, config.cookie),
    writeIdentity,
    writer: createRequestWriter({ rules, writeIdentity, assertion, ownCookies }),
  }
}

/** The names of the headers that identify the caller, which only the gateway sets. */
export function ownHeaderNames({ identityHeaders, assertion }: Config): readonly string[] {
  return [...Object.values(identityHeaders), assertion.header]
}

/** Maximum number of cached assertions, half a KiB each; beyond that, some are signed more often. */
const assertionsMax = 10_000

/** @returns undefined where assertions are disabled */
export function createAssertionHeader(
  { config, clock }: Pick<ConfigParts, 'config' | 'clock'>,
  { keyring, revocationFeed }: Pick<CallerAuth, 'keyring' | 'revocationFeed'>,
): AssertionHeader | undefined {
  const { enabled, header, lifetimeMs } = config.assertion
  if (!enabled) return undefined
  const { issuer } = config.tokens
  const cache = createLru<CachedAssertion>(assertionsMax)
  const stamps = revocationFeed?.stamps
  return { header, of: createAssertionIssuer({ keyring, cache, issuer, lifetimeMs, stamps, clock }) }
}
