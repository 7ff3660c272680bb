import {
  type AccountActionsOf,
  type AccountActionsOptions,
  createAccountActions,
} from '#accounts/account-actions.ts'
import { createEmailVerifier } from '#accounts/email-verification.ts'
import { createHeldKeyEnder } from '#accounts/held-keys.ts'
import type { KeyOptions } from '#accounts/keys/make-key.ts'
import type { SendMail } from '#accounts/mails/mail.ts'
import { createNotices, type SendNotice } from '#accounts/mails/notices.ts'
import { deliverInBackground, type Outbox } from '#accounts/mails/outbox.ts'
import type { Config } from '#config/config.ts'
import type { Quotas } from '#identity/limits/quotas.ts'
import { createOidcSignIn } from '#identity/oidc/oidc-sign-in.ts'
import type { OidcOptions } from '#identity/oidc/provider.ts'
import { createPasswordCheck } from '#identity/passwords/password-check.ts'
import { createPasswordResets } from '#identity/passwords/password-links.ts'
import { createKnownClients, createPortalSessions } from '#identity/portal/portal-sessions.ts'
import { createSignIn, withoutPasswords } from '#identity/portal/sign-in.ts'
import { createPasskeys } from '#identity/second-factor/passkeys.ts'
import { createSecondFactors } from '#identity/second-factor/second-factors.ts'
import { relyingPartyOf } from '#identity/second-factor/webauthn.ts'
import type { PortalTokens } from '#identity/tokens/issued-tokens.ts'
import { createPasswords } from '#platform/secrets/passwords.ts'
import { createSealer, deriveKeys } from '#platform/secrets/sealing.ts'
import { labelsOf } from '#portal/views/frame.ts'
import type { ConfigParts } from './store-parts.ts'

interface AccountServicesOptions
  extends Pick<ConfigParts, 'config' | 'store' | 'sealingKeys' | 'limiter' | 'outbox' | 'clock'> {
  readonly quotas: Pick<Quotas, 'readUsed'>
  /** undefined = the access cookie is not enabled. */
  readonly portalTokens?: PortalTokens | undefined
}

export type AccountServices = ReturnType<typeof createAccountServices>

/** What account holders and admins can do with accounts, in the portal and through the admin API. */
export function createAccountServices(options: AccountServicesOptions) {
  const { config, store, sealingKeys, limiter, outbox, quotas, portalTokens, clock } = options
  const { failures, portal } = config
  const passwords = createPasswords({ pepper: deriveKeys(sealingKeys, 'password') })
  const knownClients = createKnownClients(deriveKeys(sealingKeys, 'known clients'))
  const sessions = createPortalSessions({
    store,
    knownClients,
    sessionLifetimeMs: portal.sessionLifetimeMs,
    portalTokens,
    hasTokenCookies: portal.host === undefined,
    clock,
  })
  const check = createPasswordCheck({ store, passwords, limiter, failures, clock })
  const factorParts = { store, check, keys: deriveKeys(sealingKeys, 'second factor'), clock }
  const factors = createSecondFactors({
    ...factorParts,
    sealer: createSealer(sealingKeys),
    issuer: new URL(portal.origin).host,
  })
  const relyingParty = relyingPartyOf(portal.origin, portal.branding.name)
  const passkeys = relyingParty && createPasskeys({ ...factorParts, limiter, failures, relyingParty })
  const signIn = createSignIn({ store, sessions, knownClients, passwords, check, factors, passkeys, clock })
  const actionsOf = createActionsFrom({ ...options, readQuotaUsed: quotas.readUsed })
  const sendMail = lazyMailer(config)
  const passwordResets = createPasswordResets({
    store,
    limiter,
    outbox,
    sendMail,
    portalUrl: portal.url,
    linkLifetimeMs: portal.resetLinkLifetimeMs,
    clock,
  })
  const byPassword = { signIn, passwordResets }
  return {
    ...(portal.oidc.some(({ acceptsPasswords }) => !acceptsPasswords)
      ? withoutPasswords(byPassword, labelsOf(portal.oidc))
      : byPassword),
    /** The sign-in at one of the OpenID providers. */
    oidcSignInAt: ({ provision, label }: OidcOptions) =>
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
    verifyEmail: createEmailVerifier({ store, clock }),
    endHeldKey: createHeldKeyEnder({
      store,
      actionsOf,
      clock,
      portalUrl: portal.url,
      deliverMail: sendMail && deliverInBackground(outbox, sendMail),
    }),
  }
}

interface ActionsOptions
  extends Pick<ConfigParts, 'config' | 'store' | 'sealingKeys' | 'clock'>,
    Pick<AccountActionsOptions, 'limiter' | 'readQuotaUsed'> {
  /** undefined = actions wait until their mails are sent, as commands do. */
  readonly outbox?: Outbox | undefined
}

/** Only the actions on accounts, for commands, which have no sign-in. */
export function createActionsFrom(options: ActionsOptions): AccountActionsOf {
  const { config, store, limiter, outbox, readQuotaUsed } = options
  const sendMail = lazyMailer(config)
  const deliver = sendMail && (outbox ? deliverInBackground(outbox, sendMail) : sendMail)
  return createAccountActions({
    store,
    ...keyOptionsOf(options),
    keysMax: config.keys.maxPerAccount,
    plans: config.plans,
    readQuotaUsed,
    limiter,
    setupLinkLifetimeMs: config.portal.setupLinkLifetimeMs,
    refreshIdleMs: config.tokens.refreshIdleMs,
    portalUrl: config.portal.url,
    sendMail,
    deliverSetupMail: config.portal.acceptsPasswords ? deliver : undefined,
  })
}

function keyOptionsOf({
  config: { keys },
  sealingKeys,
  clock,
}: Pick<ConfigParts, 'config' | 'sealingKeys' | 'clock'>): KeyOptions {
  return { sealer: createSealer(sealingKeys), reveal: keys.reveal, prefix: keys.prefix, clock }
}

/** Notices by mail; undefined = none are sent. */
export function createNoticesFrom({
  config: { mail, portal },
  store,
  outbox,
  limiter,
}: ConfigParts): SendNotice | undefined {
  const sendMail = mail?.notices === true ? lazyMailer({ mail, portal }) : undefined
  return sendMail && createNotices({ store, outbox, limiter, sendMail, portalUrl: portal.url })
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
