import { knownRoles } from '#accounts/account-input.ts'
import { createHeldKeys } from '#accounts/held-keys.ts'
import { deliverInBackground } from '#accounts/mails/outbox.ts'
import type { ApiOptions } from '#api/api.ts'
import type { SignInReturnOptions } from '#api/sign-in-return.ts'
import { createReturnKeys, type IsReturnPath } from '#gateway/browser/sign-in-return.ts'
import { returnsToOtherHosts, signInHostsOf } from '#gateway/routes/own-paths.ts'
import type { OpenCallers } from '#gateway/server/open-callers.ts'
import { createCarriers } from '#identity/carriers.ts'
import { type BlockedSubjectsOf, createBlockedSubjects } from '#identity/issuers/subjects.ts'
import { createOidcProvider } from '#identity/oidc/provider.ts'
import { createSignInCodes } from '#identity/portal/sign-in-codes.ts'
import type { TokenCookie } from '#platform/http.ts'
import { readVersion } from '#platform/package.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import { createPortalCookies, type PortalCookies } from '#portal/cookies.ts'
import type { PortalSignInReturn } from '#portal/page-context.ts'
import { createPortal } from '#portal/portal.ts'
import { createPortalOidc, type PortalOidc } from '#portal/portal-oidc.ts'
import { createPortalPasskeys } from '#portal/portal-passkeys.ts'
import { callbackPathOf } from '#portal/sign-in-paths.ts'
import { portalEpochIn } from '#store/sessions.ts'
import { type AccountServices, createAccountServices, lazyMailer, portalUrlOf } from './account-services.ts'
import type { CallerAuth } from './caller-auth.ts'
import { createReceiversFrom } from './events.ts'
import type { GateChecks } from './gate-parts.ts'
import type { ConfigParts } from './store-parts.ts'

/** What the endpoints of the gateway itself are made of. */
export interface ApiPartsOptions extends ConfigParts {
  readonly callerAuth: CallerAuth
  readonly checks: GateChecks
  readonly followStream: OpenCallers['followStream']
  /** The URL at which this machine reaches this gateway, once it listens. */
  gatewayUrl(): string
  /** undefined = no route leads page visits to the sign-in. */
  readonly isReturnPath?: IsReturnPath | undefined
}

/** The endpoints of the gateway itself, and the portal if there is one. */
export function createApiOptions(options: ApiPartsOptions): ApiOptions {
  const { config, callerAuth, checks, store, limiter, metrics, outbox, clock } = options
  const sendMail = lazyMailer(config)
  const accessCookie = config.accessCookie.enabled ? config.accessCookie : undefined
  const { sessions, ...services } = createAccountServices({
    ...options,
    portalTokens: accessCookie && callerAuth.portalTokens,
  })
  const { actionsOf } = services
  const subjectsOf = createBlockedSubjects({ store, issuers: config.issuers, clock })
  const signInReturn = accessCookie && createSignInReturn(sessions, accessCookie, options)
  const forPortal = { ...services, accessCookie, subjectsOf, signInReturn }
  return {
    sessions: callerAuth.sessions,
    clientTokens: callerAuth.clientTokens,
    issuer: config.tokens.issuer,
    introspection: config.tokens.introspection,
    proofs: checks.proofs,
    keyring: callerAuth.keyring,
    revocationFeed: callerAuth.revocationFeed,
    followStream: options.followStream,
    limiter,
    metrics,
    failures: config.failures,
    cookie: config.cookie,
    accessCookie,
    origins: config.cors.origins,
    publicOrigin: config.publicOrigin,
    requestTimeoutMs: config.listen.requestTimeoutMs,
    version: readVersion(),
    admin: adminOptions({ actionsOf, subjectsOf }, options),
    heldKeys: createHeldKeys({
      store,
      actionsOf,
      clock,
      portalUrl: portalUrlOf(config),
      deliverMail: sendMail && deliverInBackground(outbox, sendMail),
    }),
    accept: config.keys.accept,
    portal: config.portal.enabled ? createPortal(portalOptions(forPortal, options)) : undefined,
    signInReturn,
  }
}

function adminOptions(
  services: Pick<ApiOptions['admin'], 'actionsOf' | 'subjectsOf'>,
  { config, callerAuth, checks, keyUses, clock }: ApiPartsOptions,
): ApiOptions['admin'] {
  return {
    ...services,
    isPortalSession: async (id) => {
      const session = await callerAuth.directory.session(id)
      // A session that is not known to have been started with keys counts as signed in.
      return !session || session.isEnded || portalEpochIn(session.keyId) !== undefined
    },
    authenticator: callerAuth.authenticator,
    checkPossession: checks.checkPossession,
    readClientCertificate: checks.readClientCertificate,
    keyUses,
    hasSetupLinks: config.portal.acceptsPasswords,
    clock,
  }
}

/** undefined if page visits sign in on their own host, or nowhere. */
function createSignInReturn(
  sessions: AccountServices['sessions'],
  accessCookie: TokenCookie,
  { config, sealingKeys, limiter, clock, isReturnPath }: ApiPartsOptions,
): (PortalSignInReturn & SignInReturnOptions) | undefined {
  if (!isReturnPath || !returnsToOtherHosts(config.portal, config.routes)) return undefined
  return {
    codes: createSignInCodes({ sealer: createSealer(sealingKeys), sessions, limiter, clock }),
    hosts: signInHostsOf(config.routes, config.publicOrigin),
    keys: createReturnKeys(config.publicOrigin.startsWith('https:')),
    accessCookie,
    isReturnPath,
  }
}

interface PortalServices extends Omit<AccountServices, 'sessions'> {
  readonly accessCookie: TokenCookie | undefined
  readonly subjectsOf: BlockedSubjectsOf
  readonly signInReturn: PortalSignInReturn | undefined
}

function portalOptions({ oidcSignInAt, accessCookie, ...parts }: PortalServices, options: ApiPartsOptions) {
  const { config, limiter, clock, sealingKeys, gatewayUrl, isReturnPath } = options
  const { passkeys } = parts.signIn
  const { publicOrigin, portal, routes, identityHeaders, keys, plans } = config
  const cookies = createPortalCookies({
    path: portal.path,
    isSecure: publicOrigin.startsWith('https:'),
    isAlone: portal.host !== undefined,
    // A cookie of the portal's own host would not reach any route.
    tokens:
      portal.host === undefined && accessCookie
        ? { access: accessCookie, refresh: config.cookie }
        : undefined,
  })
  return {
    ...parts,
    limiter,
    path: portal.path,
    branding: portal.branding,
    canMailLinks: config.mail !== undefined && portal.acceptsPasswords,
    requireSecondFactor: portal.requireSecondFactor,
    publicOrigin,
    origin: portal.origin,
    routes,
    identityHeaders,
    carriers: createCarriers(keys.accept),
    roles: knownRoles(routes),
    plans: Object.keys(plans),
    issuers: config.issuers.map(({ name }) => name),
    receiversOf: createReceiversFrom(options),
    cookies,
    passkeys:
      passkeys && createPortalPasskeys(passkeys, { sealer: createSealer(sealingKeys), cookies, clock }),
    oidc: portalOidc(oidcSignInAt, cookies, options),
    clock,
    gatewayUrl,
    isReturnPath,
  }
}

/** undefined = people sign in by password only. */
function portalOidc(
  signInAt: AccountServices['oidcSignInAt'],
  cookies: PortalCookies,
  { config, sealingKeys, clock }: ApiPartsOptions,
): PortalOidc | undefined {
  const { oidc, acceptsPasswords } = config.portal
  if (oidc.length === 0) return undefined
  const portalUrl = portalUrlOf(config)
  const providers = oidc.map((options) => ({
    ...options,
    provider: createOidcProvider({
      oidc: options,
      redirectUri: portalUrl + callbackPathOf(options.name),
      signedOutUri: `${portalUrl}/sign-in`,
      clockToleranceMs: config.tokens.clockToleranceMs,
      clock,
    }),
    signIn: signInAt(options),
  }))
  return createPortalOidc(
    { providers, acceptsPasswords },
    { sealer: createSealer(sealingKeys), cookies, clock },
  )
}
