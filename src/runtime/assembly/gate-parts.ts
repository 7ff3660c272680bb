import type { Config } from '#config/config.ts'
import { createClientCertificateReader } from '#gateway/arrival/client-certificate-reader.ts'
import { createAccessCookieReader, createBasicKeyCheck } from '#gateway/browser/ambient-credentials.ts'
import {
  createSignInFinder,
  createSignInRedirect,
  visitCookieName,
} from '#gateway/browser/sign-in-redirect.ts'
import { createReturnKeys, returnCookieNames } from '#gateway/browser/sign-in-return.ts'
import { createHeaderRules } from '#gateway/forward/header-rules.ts'
import { type AssertionHeader, createIdentityWriter } from '#gateway/forward/identity-headers.ts'
import { createOwnCookies, type OwnCookies, stickyCookieName } from '#gateway/forward/own-cookies.ts'
import { createRequestWriter, type RequestWriter } from '#gateway/forward/upstream-head.ts'
import { createPossessionCheck } from '#gateway/gate/possession.ts'
import { createKeyHeaderReader } from '#gateway/gate/route-credentials.ts'
import { signInHostsOf } from '#gateway/routes/own-paths.ts'
import { type Carriers, createCarriers } from '#identity/access.ts'
import { createLru } from '#identity/cache/bounded-caches.ts'
import { createPlanLimits } from '#identity/limits/plans.ts'
import { createProofNonces, createProofs } from '#identity/proofs.ts'
import { type CachedAssertion, createAssertions } from '#identity/tokens/assertion.ts'
import { looksLikeAccessToken } from '#identity/tokens/jwt.ts'
import { portalCookieNames } from '#portal/cookies.ts'
import type { CallerAuth } from './caller-auth.ts'
import type { ConfigParts } from './store-parts.ts'

/**
 * Parts for browsers that cannot set headers: all undefined if the access cookie is not enabled. Without the portal
 * nobody is sent to sign in.
 */
export function createBrowserParts({
  accessCookie,
  cors,
  portal,
  publicOrigin,
  routes,
}: Pick<Config, 'accessCookie' | 'cors' | 'portal' | 'publicOrigin' | 'routes'>) {
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
export function createOwnCookiesFrom(
  config: Pick<Config, 'accessCookie' | 'cookie' | 'portal' | 'upstreams'>,
): OwnCookies {
  const { name, enabled } = config.accessCookie
  return createOwnCookies({
    names: [
      config.cookie.name,
      ...(config.portal.enabled ? portalCookieNames : []),
      ...stickyUpstreams(config).map(stickyCookieName),
    ],
    anyCase: enabled ? [name, visitCookieName, ...returnCookieNames] : [],
    others: enabled ? [] : [{ name, isOwn: looksLikeAccessToken }],
  })
}

/** The names of the upstreams whose targets cookies name. */
export function stickyUpstreams({ upstreams }: Pick<Config, 'upstreams'>): readonly string[] {
  return upstreams.filter(({ balancing }) => balancing === 'sticky').map(({ name }) => name)
}

/** Maximum number of cached assertions, half a KiB each; beyond that, some are signed more often. */
const assertionsMax = 10_000

/** The writer of upstream heads, by the names and rules of a config. @param assertion undefined = there is none */
export function createWriterFrom(
  config: Config,
  carriers: Carriers,
  assertion: AssertionHeader | undefined,
): RequestWriter {
  return createRequestWriter({
    rules: createHeaderRules(ownHeaderNames(config), carriers),
    writeIdentity: createIdentityWriter(config.identityHeaders),
    assertion,
    ownCookies: createOwnCookiesFrom(config),
  })
}

/** The names of the headers that identify the caller, which only the gateway sets. */
export function ownHeaderNames({
  identityHeaders,
  assertion,
}: Pick<Config, 'identityHeaders' | 'assertion'>): readonly string[] {
  return [...Object.values(identityHeaders), assertion.header]
}

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
  return { header, of: createAssertions({ keyring, cache, issuer, lifetimeMs, stamps, clock }).issue }
}

interface GateCheckParts extends Pick<ConfigParts, 'sealingKeys' | 'proofReplays' | 'clock'> {
  readonly config: Pick<
    Config,
    'clientCertificateHeader' | 'cors' | 'dpop' | 'failures' | 'keys' | 'publicOrigin' | 'tokens'
  >
}

export type GateChecks = ReturnType<typeof createGateChecks>

/** What the gate checks of a request by itself: for the gateway, its own endpoints, apps and `explain`. */
export function createGateChecks({ config, sealingKeys, proofReplays, clock }: GateCheckParts) {
  const { dpop, failures, keys, publicOrigin, tokens } = config
  const lifetimeMs = dpop.proofLifetimeMs
  const proofs = createProofs({
    replays: proofReplays,
    nonces: dpop.nonce ? createProofNonces(sealingKeys, lifetimeMs, clock) : undefined,
    lifetimeMs,
    clockToleranceMs: tokens.clockToleranceMs,
    clock,
  })
  const readClientCertificate = createClientCertificateReader(config.clientCertificateHeader, clock)
  return {
    failures,
    proofs,
    readClientCertificate,
    checkPossession: createPossessionCheck({ proofs, readClientCertificate, publicOrigin }),
    /** For routes: pages of `cors.origins` may send keys by Basic. */
    checkBasicKey: createBasicKeyCheck({ publicOrigin, origins: config.cors.origins }),
    /** For routes whose Authorization field belongs to the backend. */
    readKeyHeaders: createKeyHeaderReader(createCarriers(keys.accept), tokens.issuer),
  }
}

/** The parts of the gate that the gateway and apps have in common, among them its checks. */
export function createGateParts(parts: ConfigParts, { authenticator }: Pick<CallerAuth, 'authenticator'>) {
  const { config, limiter, quotas, metrics, keyUses, log } = parts
  return {
    ...createGateChecks(parts),
    authenticator,
    limiter,
    countAgainstQuotas: createPlanLimits({
      plans: config.plans,
      limiter,
      quotas,
      onUnknown: (plan) =>
        log.warn({ plan }, 'accounts have a plan that is not in the config: they are not limited'),
      unknownPlanRequests: metrics.unknownPlanRequests,
    }),
    metrics,
    keyUses,
  }
}
