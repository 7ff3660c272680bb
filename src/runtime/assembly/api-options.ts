import { knownRoles } from '#accounts/account-input.ts'
import type { ApiOptions } from '#api/api.ts'
import type { SignInReturnOptions } from '#api/sign-in-return.ts'
import { createReturnKeys, type IsReturnPath } from '#gateway/browser/sign-in-return.ts'
import { returnsToOtherHosts, signInHostsOf } from '#gateway/routes/own-paths.ts'
import type { OpenCallers } from '#gateway/server/open-callers.ts'
import { createCarriers } from '#identity/carriers.ts'
import { createBlockedSubjects } from '#identity/issuers/subjects.ts'
import { createOidcProvider } from '#identity/oidc/provider.ts'
import { createSignInCodes } from '#identity/portal/sign-in-codes.ts'
import type { TokenCookie } from '#platform/http.ts'
import { readVersion } from '#platform/package.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import { createPortalCookies } from '#portal/cookies.ts'
import { callbackPathOf } from '#portal/page-access.ts'
import type { PortalOptions, PortalSignInReturn } from '#portal/page-context.ts'
import { createPortal } from '#portal/portal.ts'
import { createPortalOidc, type PortalProvider } from '#portal/portal-oidc.ts'
import { createPortalPasskeys } from '#portal/portal-passkeys.ts'
import { portalEpochIn } from '#store/sessions.ts'
import { type AccountServices, createAccountServices } from './account-services.ts'
import type { CallerAuth } from './caller-auth.ts'
import { createReceiversFrom } from './events.ts'
import type { createGateParts } from './gate-parts.ts'
import type { ConfigParts } from './store-parts.ts'

/** What the endpoints of the gateway itself need besides the parts of the store and the config. */
interface EndpointParts {
  readonly callerAuth: CallerAuth
  readonly gate: ReturnType<typeof createGateParts>
  readonly openCallers: Pick<OpenCallers, 'followStream'>
  /** The URL at which this machine reaches this gateway, once it listens. */
  gatewayUrl(): string
  /** undefined = no route leads page visits to the sign-in. */
  readonly isReturnPath?: IsReturnPath | undefined
}

/** The endpoints of the gateway itself, and the portal if there is one. */
export function createApiOptions(
  parts: ConfigParts,
  { callerAuth, gate, openCallers, gatewayUrl, isReturnPath }: EndpointParts,
): ApiOptions {
  const { config, store, clock } = parts
  const accessCookie = config.accessCookie.enabled ? config.accessCookie : undefined
  const services = createAccountServices({ ...parts, portalTokens: accessCookie && callerAuth.portalTokens })
  const { actionsOf, endHeldKey } = services
  const subjectsOf = createBlockedSubjects({ store, issuers: config.issuers, clock })
  const signInReturn =
    accessCookie && isReturnPath && createSignInReturn(parts, services, { accessCookie, isReturnPath })
  return {
    sessions: callerAuth.sessions,
    clientTokens: callerAuth.clientTokens,
    issuer: config.tokens.issuer,
    introspection: config.tokens.introspection,
    proofs: gate.proofs,
    gate,
    keyring: callerAuth.keyring,
    revocationFeed: callerAuth.revocationFeed,
    followStream: openCallers.followStream,
    limiter: parts.limiter,
    metrics: parts.metrics,
    failures: config.failures,
    cookie: config.cookie,
    accessCookie,
    origins: config.cors.origins,
    publicOrigin: config.publicOrigin,
    requestTimeoutMs: config.listen.requestTimeoutMs,
    version: readVersion(),
    admin: {
      actionsOf,
      subjectsOf,
      isPortalSession: async (id) => {
        const session = await callerAuth.directory.session(id)
        // A session that is not known to have been started with keys counts as signed in.
        return !session || session.isEnded || portalEpochIn(session.keyId) !== undefined
      },
      hasSetupLinks: config.portal.acceptsPasswords,
      clock,
    },
    endHeldKey,
    accept: config.keys.accept,
    portal: config.portal.enabled
      ? createPortal({
          ...portalOptions(parts, services, accessCookie),
          subjectsOf,
          isReturnPath,
          signInReturn,
          gatewayUrl,
        })
      : undefined,
    signInReturn,
  }
}

/** undefined if page visits sign in on their own host. */
function createSignInReturn(
  { config, sealingKeys, limiter, clock }: ConfigParts,
  { sessions }: AccountServices,
  forPages: Pick<SignInReturnOptions, 'accessCookie' | 'isReturnPath'>,
): (PortalSignInReturn & SignInReturnOptions) | undefined {
  if (!returnsToOtherHosts(config.portal, config.routes)) return undefined
  return {
    ...forPages,
    codes: createSignInCodes({ sealer: createSealer(sealingKeys), sessions, limiter, clock }),
    hosts: signInHostsOf(config.routes, config.publicOrigin),
    keys: createReturnKeys(config.publicOrigin.startsWith('https:')),
  }
}

function portalOptions(
  parts: ConfigParts,
  { signIn, actionsOf, verifyEmail, passwordResets, oidcSignInAt }: AccountServices,
  accessCookie: TokenCookie | undefined,
): Omit<PortalOptions, 'subjectsOf' | 'isReturnPath' | 'signInReturn' | 'gatewayUrl'> {
  const { config, limiter, clock } = parts
  const { passkeys } = signIn
  const { publicOrigin, portal, routes, identityHeaders, keys, plans } = config
  const isAlone = portal.host !== undefined
  const cookies = createPortalCookies({
    path: portal.path,
    isSecure: publicOrigin.startsWith('https:'),
    isAlone,
    // A cookie of the portal's own host would not reach any route.
    tokens: !isAlone && accessCookie ? { access: accessCookie, refresh: config.cookie } : undefined,
  })
  const sealed = { sealer: createSealer(parts.sealingKeys), cookies, clock }
  const { acceptsPasswords } = portal
  const providers = portalProviders(parts, oidcSignInAt)
  return {
    signIn,
    actionsOf,
    verifyEmail,
    passwordResets,
    limiter,
    path: portal.path,
    branding: portal.branding,
    canMailLinks: config.mail !== undefined && acceptsPasswords,
    hasAccessCookie: accessCookie !== undefined,
    requireSecondFactor: portal.requireSecondFactor,
    publicOrigin,
    origin: portal.origin,
    routes,
    identityHeaders,
    carriers: createCarriers(keys.accept),
    roles: knownRoles(routes),
    plans: Object.keys(plans),
    issuers: config.issuers.map(({ name }) => name),
    receiversOf: createReceiversFrom(parts),
    cookies,
    passkeys: passkeys && createPortalPasskeys(passkeys, sealed),
    // Without a provider people sign in by password only.
    oidc: providers.length > 0 ? createPortalOidc({ providers, acceptsPasswords }, sealed) : undefined,
    clock,
  }
}

function portalProviders(
  { config, clock }: ConfigParts,
  signInAt: AccountServices['oidcSignInAt'],
): readonly PortalProvider[] {
  const { oidc, url } = config.portal
  return oidc.map((options) => ({
    ...options,
    provider: createOidcProvider({
      oidc: options,
      redirectUri: url + callbackPathOf(options.name),
      signedOutUri: `${url}/sign-in`,
      clockToleranceMs: config.tokens.clockToleranceMs,
      clock,
    }),
    signIn: signInAt(options),
  }))
}
