import {
  type AccountActionsOf,
  type AccountActionsOptions,
  createAccountActions,
} from '#accounts/account-actions.ts'
import { createEmailVerification, type EmailVerification } from '#accounts/email-verification.ts'
import type { KeyOptions } from '#accounts/keys/make-key.ts'
import type { SendMail } from '#accounts/mails/mail.ts'
import { createNotices, type SendNotice } from '#accounts/mails/notices.ts'
import { deliverInBackground, type Outbox } from '#accounts/mails/outbox.ts'
import type { Config } from '#config/config.ts'
import type { Quotas } from '#identity/limits/quotas.ts'
import { createOidcSignIn, type OidcSignIn } from '#identity/oidc/oidc-sign-in.ts'
import type { OidcOptions } from '#identity/oidc/provider.ts'
import { createPasswordCheck } from '#identity/passwords/password-check.ts'
import { createPasswordResets, type PasswordResets } from '#identity/passwords/password-links.ts'
import {
  createKnownClients,
  createPortalSessions,
  type PortalSessions,
} from '#identity/portal/portal-sessions.ts'
import { createSignIn, type SignIn, withoutPasswords } from '#identity/portal/sign-in.ts'
import { createPasskeys } from '#identity/second-factor/passkeys.ts'
import { createSecondFactors } from '#identity/second-factor/second-factors.ts'
import { relyingPartyOf } from '#identity/second-factor/webauthn.ts'
import type { PortalTokens } from '#identity/tokens/issued-tokens.ts'
import { createPasswords } from '#platform/secrets/passwords.ts'
import { createSealer, deriveKeys } from '#platform/secrets/sealing.ts'
import { labelsOf } from '#portal/views/frame.ts'
import type { ConfigParts } from './store-parts.ts'

/** What account holders and admins can do with accounts, in the portal and through the admin API. */
export interface AccountServices {
  readonly signIn: SignIn
  /** The sign-in at one of the OpenID providers. */
  readonly oidcSignInAt: (provider: OidcOptions) => OidcSignIn
  /** Resumes the sessions of browsers that have signed in on another host. */
  readonly sessions: Pick<PortalSessions, 'resume'>
  readonly actionsOf: AccountActionsOf
  readonly emailVerification: EmailVerification
  readonly passwordResets: PasswordResets
}

interface AccountServicesOptions
  extends Pick<ConfigParts, 'config' | 'store' | 'sealingKeys' | 'limiter' | 'outbox' | 'clock'> {
  readonly quotas: Pick<Quotas, 'readUsed'>
  /** undefined = the access cookie is not enabled. */
  readonly portalTokens?: PortalTokens | undefined
}

export function createAccountServices(options: AccountServicesOptions): AccountServices {
  const { config, store, sealingKeys, limiter, outbox, quotas, portalTokens, clock } = options
  const passwords = createPasswords({ pepper: deriveKeys(sealingKeys, 'password') })
  const knownClients = createKnownClients(deriveKeys(sealingKeys, 'known clients'))
  const { sessionLifetimeMs, oidc } = config.portal
  const hasTokenCookies = config.portal.host === undefined
  const { failures } = config
  const check = createPasswordCheck({ store, passwords, limiter, failures, clock })
  const factorParts = { store, check, keys: deriveKeys(sealingKeys, 'second factor'), clock }
  const factors = createSecondFactors({
    ...factorParts,
    sealer: createSealer(sealingKeys),
    issuer: new URL(config.portal.origin).host,
  })
  const relyingParty = relyingPartyOf(config.portal.origin, config.portal.branding.name)
  const passkeys = relyingParty && createPasskeys({ ...factorParts, limiter, failures, relyingParty })
  const portalSessions = { store, knownClients, sessionLifetimeMs, portalTokens, hasTokenCookies, clock }
  const signIn = createSignIn({ passwords, check, factors, passkeys, ...portalSessions })
  const actionsOf = createActionsFrom({ ...options, readQuotaUsed: quotas.readUsed })
  const sessions = createPortalSessions(portalSessions)
  const passwordResets = createPasswordResets({
    store,
    limiter,
    outbox,
    sendMail: lazyMailer(config),
    portalUrl: portalUrlOf(config),
    linkLifetimeMs: config.portal.resetLinkLifetimeMs,
    clock,
  })
  const byPassword = { signIn, passwordResets }
  return {
    ...(oidc.some(({ acceptsPasswords }) => !acceptsPasswords)
      ? withoutPasswords(byPassword, labelsOf(oidc))
      : byPassword),
    oidcSignInAt: ({ provision, label }) =>
      createOidcSignIn({
        provision,
        label,
        store,
        sessions,
        knownClients,
        actionsOf,
        keyOptions: keyOptionsOf(options),
        limiter,
        clock,
      }),
    sessions,
    actionsOf,
    emailVerification: createEmailVerification({ store, clock }),
  }
}

interface ActionsOptions
  extends Omit<AccountServicesOptions, 'limiter' | 'outbox' | 'quotas'>,
    Pick<AccountActionsOptions, 'limiter' | 'readQuotaUsed'> {
  /** undefined = actions wait until their mails are sent, as commands do. */
  readonly outbox?: Outbox | undefined
}

/** Only the actions on accounts, for commands, which have no sign-in. */
export function createActionsFrom({
  config,
  store,
  sealingKeys,
  limiter,
  outbox,
  readQuotaUsed,
  clock,
}: ActionsOptions): AccountActionsOf {
  const sendMail = lazyMailer(config)
  const deliver = sendMail && (outbox ? deliverInBackground(outbox, sendMail) : sendMail)
  return createAccountActions({
    store,
    ...keyOptionsOf({ config, sealingKeys, clock }),
    keysMax: config.keys.maxPerAccount,
    plans: config.plans,
    readQuotaUsed,
    limiter,
    setupLinkLifetimeMs: config.portal.setupLinkLifetimeMs,
    refreshIdleMs: config.tokens.refreshIdleMs,
    portalUrl: portalUrlOf(config),
    sendMail,
    deliverSetupMail: config.portal.acceptsPasswords ? deliver : undefined,
  })
}

function keyOptionsOf({
  config,
  sealingKeys,
  clock,
}: Pick<AccountServicesOptions, 'config' | 'sealingKeys' | 'clock'>): KeyOptions {
  const { reveal, prefix } = config.keys
  return { sealer: createSealer(sealingKeys), reveal, prefix, clock }
}

/** Notices by mail; undefined = none are sent. */
export function createNoticesFrom({
  config,
  ...parts
}: Pick<AccountServicesOptions, 'config' | 'store' | 'outbox' | 'limiter'>): SendNotice | undefined {
  const sendMail = config.mail?.notices === true ? lazyMailer(config) : undefined
  return sendMail && createNotices({ ...parts, sendMail, portalUrl: portalUrlOf(config) })
}

/** The portal's URL as clients see it. */
export function portalUrlOf({ portal: { origin, path } }: Pick<Config, 'portal'>): string {
  return origin + path
}

/**
 * Loads the library with the first mail, so that startup does not wait for it.
 * @returns undefined where no mail can be sent
 */
export function lazyMailer({ mail, portal }: Pick<Config, 'mail' | 'portal'>): SendMail | undefined {
  if (!mail) return undefined
  const server = { ...mail, name: portal.branding.name }
  let sending: Promise<SendMail> | undefined
  return async (message) => {
    sending ??= import('#accounts/mails/mailer.ts').then(({ createMailer }) => createMailer(server))
    return (await sending)(message)
  }
}
