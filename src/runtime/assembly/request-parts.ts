import type { Config } from '#config/config.ts'
import type { GatedArrival } from '#gateway/arrival/arrival.ts'
import {
  type CheckBasicKey,
  createAccessCookieReader,
  createBasicKeyCheck,
  type ReadAccessCookie,
} from '#gateway/browser/ambient-credentials.ts'
import {
  createSignInFinder,
  createSignInRedirect,
  type FindSignIn,
  type RedirectToSignIn,
  visitCookieName,
} from '#gateway/browser/sign-in-redirect.ts'
import { createReturnKeys, type ReturnKeys, returnCookieNames } from '#gateway/browser/sign-in-return.ts'
import { createHeaderRules } from '#gateway/forward/header-rules.ts'
import { type AssertionHeader, createIdentityWriter } from '#gateway/forward/identity-headers.ts'
import { createOwnCookies, type OwnCookies } from '#gateway/forward/own-cookies.ts'
import { createStickyCookies, stickyCookieName } from '#gateway/forward/sticky-cookies.ts'
import { createRequestWriter, type RequestWriter } from '#gateway/forward/upstream-head.ts'
import { createClientCertificateReader } from '#gateway/gate/client-certificate-reader.ts'
import type { GateOptions } from '#gateway/gate/gate.ts'
import { type CheckPossession, createPossessionCheck } from '#gateway/gate/possession.ts'
import { createKeyHeaderReader, type ReadKeyHeaders } from '#gateway/gate/route-credentials.ts'
import type { GatedRoute } from '#gateway/routes/route.ts'
import { signInHostsOf } from '#gateway/routes/route-urls.ts'
import { createLru } from '#identity/cache/lru.ts'
import { type Carriers, createCarriers } from '#identity/keys/carriers.ts'
import { type CountAgainstQuotas, createQuotaCounter } from '#identity/limits/plans.ts'
import { createProofNonces } from '#identity/possession/nonces.ts'
import { createProofs, type Proofs } from '#identity/possession/proofs.ts'
import type { ProofReplays } from '#identity/possession/replays.ts'
import { type CachedAssertion, createAssertions } from '#identity/tokens/assertion.ts'
import { looksLikeAccessToken } from '#identity/tokens/jwt.ts'
import type { Clock } from '#platform/clock.ts'
import type { TokenCookie } from '#platform/cookie-attributes.ts'
import type { KeySource } from '#platform/secrets/sealing.ts'
import { portalCookieNames } from '#portal/portal-cookie.ts'
import type { CallerAuth } from './caller-auth.ts'
import type { ConfigParts } from './parts.ts'

/** Parts for browsers that cannot set headers; all undefined if the access cookie is not enabled. */
interface BrowserParts {
  readonly readAccessCookie: ReadAccessCookie | undefined
  /** Also undefined without the portal. */
  readonly findSignIn: FindSignIn | undefined
  readonly redirectToSignIn: RedirectToSignIn | undefined
}

type BrowserConfig = Pick<Config, 'accessCookie' | 'cookie' | 'cors' | 'portal' | 'publicOrigin' | 'routes'>

export function createBrowserParts({
  accessCookie,
  cors,
  portal,
  publicOrigin,
  routes,
}: BrowserConfig): BrowserParts {
  const { enabled, name, sameSite, isSecure } = accessCookie
  if (!enabled) return { readAccessCookie: undefined, findSignIn: undefined, redirectToSignIn: undefined }
  const isAlone = portal.host !== undefined
  const hosts = isAlone ? signInHostsOf(routes, publicOrigin) : undefined
  const findSignIn = portal.enabled
    ? createSignInFinder({
        portalPath: portal.path,
        isSecure,
        portalHost: hosts && { origin: portal.origin, hosts },
      })
    : undefined
  const returnKeys = isAlone ? createConfiguredReturnKeys({ publicOrigin }) : undefined
  return {
    readAccessCookie: createAccessCookieReader({ name, sameSite, publicOrigin, origins: cors.origins }),
    findSignIn,
    redirectToSignIn: findSignIn && createSignInRedirect({ findSignIn, returnKeys }),
  }
}

/** For routes: pages of `cors.origins` may send keys by Basic. */
export function createConfiguredBasicKeyCheck({
  cors,
  publicOrigin,
}: Pick<Config, 'cors' | 'publicOrigin'>): CheckBasicKey {
  return createBasicKeyCheck({ publicOrigin, origins: cors.origins })
}

/** For routes whose Authorization field belongs to the backend. */
export function createConfiguredKeyHeaderReader({
  keys,
  tokens,
}: Pick<Config, 'keys' | 'tokens'>): ReadKeyHeaders {
  return createKeyHeaderReader(createCarriers(keys.accept), tokens.issuer)
}

interface ProofParts {
  readonly config: Pick<Config, 'clientCertificateHeader' | 'dpop' | 'publicOrigin' | 'tokens'>
  readonly sealingKeys: KeySource
  readonly proofReplays: ProofReplays
  readonly clock: Clock
}

/** Proofs of clients that they have the key of a token. */
export function createConfiguredProofs({ config, sealingKeys, proofReplays, clock }: ProofParts): Proofs {
  const { proofLifetimeMs: lifetimeMs, nonce } = config.dpop
  return createProofs({
    replays: proofReplays,
    nonces: nonce ? createProofNonces(sealingKeys, lifetimeMs, clock) : undefined,
    lifetimeMs,
    clockToleranceMs: config.tokens.clockToleranceMs,
    clock,
  })
}

export function createConfiguredPossessionCheck(parts: ProofParts): CheckPossession {
  const { clientCertificateHeader, publicOrigin } = parts.config
  return createPossessionCheck({
    proofs: createConfiguredProofs(parts),
    readClientCertificate: createClientCertificateReader(clientCertificateHeader, parts.clock),
    publicOrigin,
  })
}

/** For a portal on a host of its own. */
export function createConfiguredReturnKeys({ publicOrigin }: Pick<Config, 'publicOrigin'>): ReturnKeys {
  return createReturnKeys(publicOrigin.startsWith('https:'))
}

/** undefined = it is not enabled. */
export function accessCookieOf({ accessCookie }: Pick<Config, 'accessCookie'>): TokenCookie | undefined {
  return accessCookie.enabled ? accessCookie : undefined
}

/**
 * The cookies that no backend gets or sets. If the access cookie is not enabled, its name belongs to the backends, but
 * tokens in it are still ours: browsers may have them from before the config was changed.
 */
export function createConfiguredOwnCookies({
  accessCookie,
  cookie,
  portal,
  upstreams,
}: Pick<BrowserConfig, 'accessCookie' | 'cookie' | 'portal'> & StickyConfig): OwnCookies {
  const { name, enabled } = accessCookie
  const sticky = stickyUpstreams({ upstreams }).map(stickyCookieName)
  return createOwnCookies({
    names: [cookie.name, ...(portal.enabled ? portalCookieNames : []), ...sticky],
    anyCase: enabled ? [name, visitCookieName, ...returnCookieNames] : [],
    others: enabled ? [] : [{ name, isOwn: looksLikeAccessToken }],
  })
}

interface StickyConfig {
  readonly upstreams: readonly Pick<Config['upstreams'][number], 'name' | 'balancing'>[]
}

/** The cookies that name targets; undefined = no upstream has them. */
export function createConfiguredStickyCookies(config: StickyConfig & Pick<Config, 'cookie'>) {
  return createStickyCookies(stickyUpstreams(config), config.cookie)
}

function stickyUpstreams({ upstreams }: StickyConfig): readonly string[] {
  return upstreams.filter(({ balancing }) => balancing === 'sticky').map(({ name }) => name)
}

interface RequestWriterParts {
  readonly config: Config
  readonly callerAuth: Pick<CallerAuth, 'keyring'> & Partial<Pick<CallerAuth, 'revocationFeed'>>
  readonly clock: Clock
}

/** Maximum number of cached assertions, half a KiB each; beyond that, some are signed more often. */
const assertionsMax = 10_000

/** The writer of upstream heads, by the names and rules of a config. */
export function createConfiguredWriter(
  parts: RequestWriterParts,
  carriers: Carriers,
  assertion = createAssertionHeader(parts),
): RequestWriter {
  const { config } = parts
  return createRequestWriter({
    rules: createHeaderRules(ownHeaderNames(config), carriers),
    writeIdentity: createIdentityWriter(config.identityHeaders),
    assertion,
    ownCookies: createConfiguredOwnCookies(config),
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
export function createAssertionHeader({
  config,
  callerAuth,
  clock,
}: RequestWriterParts): AssertionHeader | undefined {
  const { enabled, header, lifetimeMs } = config.assertion
  if (!enabled) return undefined
  const { keyring, revocationFeed } = callerAuth
  const { issuer } = config.tokens
  const cache = createLru<CachedAssertion>(assertionsMax)
  const stamps = revocationFeed?.stamps
  return { header, of: createAssertions({ keyring, cache, issuer, lifetimeMs, stamps, clock }).issue }
}

interface GatePartsOptions extends ConfigParts {
  readonly callerAuth: Pick<CallerAuth, 'authenticator'>
}

/** The parts of the gate that the gateway and apps have in common. */
export function createGateParts(
  options: GatePartsOptions,
): Omit<GateOptions<GatedRoute, GatedArrival>, 'findRoute' | 'steps' | 'readAccessCookie'> {
  const { config, callerAuth, limiter, metrics, keyUses } = options
  return {
    authenticator: callerAuth.authenticator,
    limiter,
    countAgainstQuotas: createConfiguredQuotaCounter(options),
    failures: config.failures,
    metrics,
    keyUses,
    checkBasicKey: createConfiguredBasicKeyCheck(config),
    checkPossession: createConfiguredPossessionCheck(options),
    readKeyHeaders: createConfiguredKeyHeaderReader(config),
    readClientCertificate: createClientCertificateReader(config.clientCertificateHeader, options.clock),
  }
}

/** Counts requests against the quotas of keys and the plans of the config. */
function createConfiguredQuotaCounter({
  config,
  limiter,
  quotas,
  log,
  metrics,
}: ConfigParts): CountAgainstQuotas {
  return createQuotaCounter({
    plans: config.plans,
    limiter,
    quotas,
    onUnknown: (plan) =>
      log.warn({ plan }, 'accounts have a plan that is not in the config: they are not limited'),
    unknownPlanRequests: metrics.unknownPlanRequests,
  })
}
