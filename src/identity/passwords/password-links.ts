import { assertValid } from '#accounts/account-input.ts'
import { createAuditEntryFactory, ownAuditEntry } from '#accounts/audit-log.ts'
import { mailTextsFor, mailTo, type SendMail } from '#accounts/mails/mail.ts'
import type { Outbox } from '#accounts/mails/outbox.ts'
import { clientNetwork } from '#platform/addresses.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Language } from '#platform/languages.ts'
import { createLinkToken, parseLinkToken } from '#platform/secrets/link-tokens.ts'
import { assertGoodPassword, type Passwords } from '#platform/secrets/passwords.ts'
import { isSameText } from '#platform/secrets/sealing.ts'
import type { Clock, EpochMs } from '#platform/time.ts'
import { passwordLinkOf } from '#store/account-changes/portal-changes.ts'
import type { Account, AccountReader } from '#store/accounts.ts'
import type { PasswordProof, PortalStore } from '#store/portal.ts'
import type { Rate } from '#store/rates.ts'
import type { Visitor } from '#store/sessions.ts'
import type { RateLimiter } from '../limits/rate-limiter.ts'
import { takeOrThrow } from '../limits/take-rate.ts'
import { emailDigest, workOwnerOf } from './password-check.ts'

/** Links for choosing a password: set-up links, and those for a forgotten password. */
export interface PasswordLinks {
  /**
   * Whether a link works, before anything is typed; it is not redeemed.
   * @returns when it expires
   * @throws GatehouseError `link-invalid` (unknown, used, replaced by a later one, expired, or sent to an e-mail that
   * the account no longer has), `account-disabled`
   */
  check(token: string): Promise<{ readonly expiresAt: EpochMs }>
  /**
   * Sets the password and redeems the link in one step. All portal sessions of the account end, and its other password
   * links stop working; keys and token sessions stay.
   * @throws GatehouseError as check, and `request-invalid` (field `password`), `sign-in-busy`
   */
  redeem(link: { readonly token: string; readonly password: string }, visitor: Visitor): Promise<Account>
}

export interface PasswordSetterOptions {
  readonly store: AccountReader & Pick<PortalStore, 'setPassword'>
  readonly passwords: Passwords
  readonly clock: Clock
}

export function createPasswordLinks(options: PasswordSetterOptions): PasswordLinks {
  const { store, clock } = options
  const setPassword = createPasswordSetter(options)

  async function find(text: string) {
    const setup = parseLinkToken('setup', text)
    const token = setup ?? parseLinkToken('reset', text)
    const account = token && (await store.findAccount(token.accountId))
    if (!token || !account) throw new GatehouseError('link-invalid')
    const kind = setup ? 'setup-link' : 'reset-link'
    const pending = passwordLinkOf(account, kind)
    if (!pending || !isSameText(pending.digest, token.digest) || clock() >= pending.expiresAt)
      throw new GatehouseError('link-invalid')
    if (account.isDisabled) throw new GatehouseError('account-disabled', { accountId: account.id })
    return { kind, token, account, expiresAt: pending.expiresAt } as const
  }

  return {
    check: find,
    redeem: async ({ token: text, password }, visitor) => {
      // The link is checked before the password is hashed, as hashing is expensive.
      const { kind, token, account } = await find(text)
      assertGoodPassword(password, account)
      const proof = { kind, digest: token.digest, now: clock() }
      const changed = await setPassword({ account, password, proof, action: 'password-set' }, visitor)
      if (!changed) throw new GatehouseError('link-invalid')
      return changed
    },
  }
}

interface NewPassword {
  readonly account: Account
  readonly password: string
  readonly proof: PasswordProof
  readonly action: 'password-set' | 'password-changed'
}

/** @returns the account with its new password; undefined if the proof is not, or no longer, valid */
export function createPasswordSetter({ store, passwords, clock }: PasswordSetterOptions) {
  return async function setPassword(
    { account, password, proof, action }: NewPassword,
    visitor: Visitor,
  ): Promise<Account | undefined> {
    const hashed = await passwords.hash(password, workOwnerOf(visitor, true))
    const change = { password: hashed, proof, endsSessions: true }
    const outcome = await store.setPassword(
      account.id,
      change,
      ownAuditEntry({ account, action }, visitor, clock),
    )
    if (outcome !== 'set') return undefined
    const changed = await store.findAccount(account.id)
    return changed?.portal.password === hashed ? changed : undefined
  }
}

/**
 * Rehashes the password if its stored hash is outdated, as the password is only known at a sign-in.
 * @throws GatehouseError `credentials-invalid` if it was replaced meanwhile
 */
export function createRehashing({ store, passwords }: Omit<PasswordSetterOptions, 'clock'>) {
  return async function rehashIfNeeded(
    account: Account,
    password: string,
    visitor: Visitor,
  ): Promise<Account> {
    const { password: stored } = account.portal
    if (stored === undefined || !passwords.needsRehash(stored)) return account
    const hashed = await passwords.hash(password, workOwnerOf(visitor, true))
    const proof = { kind: 'password', password: stored } as const
    await store.setPassword(account.id, { password: hashed, proof, endsSessions: false })
    const renewed = await store.findAccount(account.id)
    // Another sign-in may have rehashed the password at the same time.
    const isRight =
      renewed?.portal.password === hashed ||
      (await passwords.verify(password, renewed?.portal.password, workOwnerOf(visitor, true)))
    if (!renewed || !isRight) throw new GatehouseError('credentials-invalid')
    return renewed
  }
}

/** Forgotten passwords: a link is mailed to the account's e-mail. */
export interface PasswordResets {
  /** Whether links can be sent at all (config `mail`); if not, an Admin makes a set-up link. */
  readonly canSend: boolean
  /** How long a link works. */
  readonly linkLifetimeMs: number
  /**
   * Mails a link if an account has this e-mail and is not disabled. Resolves before that is known: the answer, and its
   * time, are the same for every e-mail.
   * @param language of the mail, if the account has chosen none; default: English
   * @throws GatehouseError `request-invalid` (field `email`), `rate-limited` (10 an hour for a client network, 3 for an
   * e-mail, of an account or not), `mail-unavailable` (no mail is configured)
   */
  request(email: string, visitor: Visitor, language?: Language): Promise<void>
}

interface PasswordResetsOptions {
  readonly store: Pick<AccountReader, 'findAccountByEmail'> & Pick<PortalStore, 'setResetLink'>
  readonly limiter: Pick<RateLimiter, 'take'>
  readonly outbox: Pick<Outbox, 'add'>
  /** undefined = no mail can be sent. */
  readonly sendMail: SendMail | undefined
  /** The portal's URL as clients see it. */
  readonly portalUrl: string
  /** `portal.resetLinkLifetime`. */
  readonly linkLifetimeMs: number
  readonly clock: Clock
}

const hourMs = 3_600_000
const addressRate: Rate = { limit: 10, perMs: hourMs }
const emailRate: Rate = { limit: 3, perMs: hourMs }

export function createPasswordResets(options: PasswordResetsOptions): PasswordResets {
  const { store, limiter, outbox, sendMail, portalUrl, linkLifetimeMs, clock } = options
  const entry = createAuditEntryFactory({ kind: 'system', channel: 'system' }, clock)

  async function mailLink(
    email: string,
    { address }: Visitor,
    { send, language }: { readonly send: SendMail; readonly language: Language | undefined },
  ): Promise<void> {
    const account = await store.findAccountByEmail(email)
    if (!account || account.isDisabled) return
    const { id, email: to } = account
    const { token, digest } = createLinkToken('reset', id)
    const expiresAt = clock() + linkLifetimeMs
    const requested = entry('password-reset-requested', account, { address })
    await store.setResetLink(id, { digest, expiresAt, sentTo: to }, requested)
    const link = { to, url: `${portalUrl}/setup#${token}`, lifetimeMs: linkLifetimeMs, expiresAt }
    await send(mailTo(to, mailTextsFor(account, language).forgottenPassword(link)))
  }

  return {
    canSend: sendMail !== undefined,
    linkLifetimeMs,
    request: async (email, visitor, language) => {
      if (!sendMail) throw new GatehouseError('mail-unavailable')
      assertValid({ email })
      await takeOrThrow(limiter, 'forgotten', clientNetwork(visitor.address), addressRate)
      // By digest: unknown e-mails count in the same way as those of accounts, and keys in memory stay short.
      await takeOrThrow(limiter, 'forgotten', emailDigest(email), emailRate)
      const sending = { send: sendMail, language }
      outbox.add({ about: { mail: 'forgotten password' }, run: () => mailLink(email, visitor, sending) })
    },
  }
}
