import { ownAuditEntry } from '#accounts/audit-log.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import {
  codeUri,
  createCodeSecret,
  createRecoveryCodes,
  isCodeSecret,
  isRecoveryCode,
  newRecoveryDigests,
  possibleRecoveryDigests,
  stepOfCode,
} from '#platform/secrets/one-time-codes.ts'
import { createMac, type KeySource, keysOf, type Sealer } from '#platform/secrets/sealing.ts'
import { type Clock, clocksApartMs } from '#platform/time.ts'
import { type Account, type AccountReader, adminRole } from '#store/accounts.ts'
import type { AuditAction } from '#store/audit-entry.ts'
import type { SecondFactorStore, SecondFactorUse } from '#store/portal.ts'
import { isPasswordEnough } from '#store/portal-access.ts'
import type { Visitor } from '#store/sessions.ts'
import type { PasswordCheck } from '../passwords/password-check.ts'

/** The password was right, and the account has a second factor: the code is still needed. */
export class SecondFactorNeeded extends Error {
  /** Proves for five minutes that the password was right; useless without the code. */
  readonly pending: string

  constructor(pending: string) {
    super('a one-time code is needed')
    this.pending = pending
  }
}

/** A secret that is not stored yet. */
export interface NewSecondFactor {
  readonly secret: string
  /** For the QR code. */
  readonly uri: string
}

/** What an account can prove besides its password. */
export interface SecondFactorChoice {
  readonly hasApp: boolean
  readonly hasPasskeys: boolean
}

/** In place of a code: the owner has just used a passkey instead. */
export const byPasskey = Symbol('by passkey')

/** One-time codes of an authenticator app, beside the password (RFC 6238), and recovery codes. */
export interface SecondFactors {
  /**
   * A new secret, for an account without one; nothing is stored.
   * @param secret one that was shown before
   */
  propose(account: Account, secret?: string): NewSecondFactor
  /**
   * Adds an app with its first code, and replaces the recovery codes. The caller has confirmed the password, and the
   * second factor if there is one.
   * @returns the recovery codes, shown only now
   * @throws GatehouseError `request-invalid` (field `code`)
   */
  enable(
    account: Account,
    given: CodeGiven & { readonly code: string; readonly secret: string },
  ): Promise<readonly string[]>
  /** Replaces the recovery codes. @throws GatehouseError as `check` */
  renewRecoveryCodes(account: Account, given: CodeGiven): Promise<readonly string[]>
  /** Removes the app; recovery codes go with the last factor. @throws GatehouseError as `check` */
  disable(account: Account, given: CodeGiven): Promise<void>
  /** Makes the proof that the password was right, which is sent back with the code. */
  createPending(account: Account): string
  /** The account that the proof is for; undefined = it is too old, or the password has been changed. */
  findPending(pending: string): Promise<Account | undefined>
  /**
   * Uses up a code of the app, or a recovery code; wrong ones count like wrong passwords.
   * @returns the account, if the code is right
   * @throws GatehouseError `request-invalid` (field `code`: wrong, too old or used before), `too-many-failures`
   */
  check(account: Account, given: CodeGiven): Promise<Account>
}

interface CodeGiven {
  /** As it was typed. */
  readonly code: string | typeof byPasskey
  readonly visitor: Visitor
  /** A client that has signed in before; undefined = an unknown one. */
  readonly client: string | undefined
}

interface SecondFactorsOptions {
  readonly store: AccountReader & SecondFactorStore
  readonly check: Pick<PasswordCheck, 'admit' | 'countCode'>
  readonly sealer: Sealer
  /** For recovery codes and pending sign-ins; derived from the sealing keys. */
  readonly keys: KeySource
  /** The issuer's name that apps show. */
  readonly issuer: string
  readonly clock: Clock
}

const pendingLifetimeMs = 5 * 60_000
const pendingPattern = /^([0-9A-Za-z]{16})\.(\d{1,16})\.([\w-]{43})$/

export function createSecondFactors(options: SecondFactorsOptions): SecondFactors {
  const { store, check: passwordCheck, sealer, keys, issuer, clock } = options

  function propose({ email }: Account, given?: string): NewSecondFactor {
    const secret = given !== undefined && isCodeSecret(given) ? given : createCodeSecret()
    return { secret, uri: codeUri(secret, { issuer, email }) }
  }

  function newRecoveryCodes({ id }: Account) {
    const codes = createRecoveryCodes()
    return { codes, digests: newRecoveryDigests(keysOf(keys), id, codes) }
  }

  function audited(account: Account, action: AuditAction, { visitor }: CodeGiven) {
    return ownAuditEntry({ account, action }, visitor, clock)
  }

  const enable: SecondFactors['enable'] = async (account, given) => {
    const { secret, code } = given
    const now = clock()
    const step = isCodeSecret(secret) ? stepOfCode(secret, withoutSpaces(code), now) : undefined
    if (step === undefined) throw invalidField('code', wrongCode)
    const { codes, digests } = newRecoveryCodes(account)
    const sealed = Buffer.from(sealer.seal(secret, secondFactorPurpose(account))).toString('base64url')
    const factor = { sealed, enabledAt: now, lastStep: step, recoveryDigests: digests }
    const isEnabled = await store.enableSecondFactor(
      account.id,
      factor,
      audited(account, 'second-factor-enabled', given),
    )
    if (!isEnabled) throw invalidField('code', 'An app is already set up.')
    return codes
  }

  /** How the code is used up; undefined = it is wrong. */
  function useOf(account: Account, typed: string): SecondFactorUse | undefined {
    const code = withoutSpaces(typed).toLowerCase()
    const { sealed = '', recoveryDigests = [] } = account.portal.secondFactor ?? {}
    if (isRecoveryCode(code)) {
      const possible = possibleRecoveryDigests(keysOf(keys), account.id, code)
      const digest = possible.find((candidate) => recoveryDigests.includes(candidate))
      return digest === undefined ? undefined : { kind: 'recovery', digest }
    }
    const secret = sealer.unseal(Buffer.from(sealed, 'base64url'), secondFactorPurpose(account))
    const step = secret === undefined ? undefined : stepOfCode(secret, code, clock())
    return step === undefined ? undefined : { kind: 'step', step }
  }

  async function check(account: Account, given: CodeGiven): Promise<Account> {
    const { visitor, client, code } = given
    if (code === byPasskey) return account
    await passwordCheck.admit(account.email, visitor)
    // Counted before it is checked, so that concurrent guesses cannot exceed the limit.
    await passwordCheck.countCode({ account, visitor, client }, async () => {
      const use = useOf(account, code)
      if (!use) return false
      const entry = use.kind === 'recovery' ? audited(account, 'recovery-code-used', given) : undefined
      return store.useSecondFactor(account.id, use, entry)
    })
    const after = await store.findAccount(account.id)
    if (!after) throw new GatehouseError('credentials-invalid')
    return after
  }

  async function renewRecoveryCodes(account: Account, given: CodeGiven): Promise<readonly string[]> {
    await check(account, given)
    const { codes, digests } = newRecoveryCodes(account)
    await store.setRecoveryCodes(account.id, digests, audited(account, 'recovery-codes-renewed', given))
    return codes
  }

  async function disable(account: Account, given: CodeGiven): Promise<void> {
    await check(account, given)
    await store.disableSecondFactor(account.id, 'app', audited(account, 'second-factor-disabled', given))
  }

  const pendingMac = createMac(keys)

  /** What is signed. Bound to the password: a new one makes it void. */
  function pendingText({ id, portal }: Account, at: string): string {
    return `pending ${id} ${at} ${portal.epoch} ${portal.password ?? ''}`
  }

  function createPending(account: Account): string {
    const at = String(clock())
    return `${account.id}.${at}.${pendingMac.sign(pendingText(account, at))}`
  }

  async function findPending(pending: string): Promise<Account | undefined> {
    const [, id, at = '', signature = ''] = pendingPattern.exec(pending) ?? []
    const age = clock() - Number(at)
    if (id === undefined || age < -clocksApartMs || age >= pendingLifetimeMs) return undefined
    const account = await store.findAccount(id)
    return account && pendingMac.isValid(pendingText(account, at), signature) ? account : undefined
  }

  return { propose, enable, renewRecoveryCodes, disable, createPending, findPending, check }
}

const wrongCode = 'The code is wrong or too old. Check the clock of your phone.'

/** The purpose that the secret of an account's app is sealed for. */
export function secondFactorPurpose({ id }: Pick<Account, 'id'>): string {
  return `secondFactor:${id}`
}

/** Apps show codes in groups. */
function withoutSpaces(code: string): string {
  return code.replaceAll(/\s/g, '')
}

/** Who needs a second factor to use the portal. */
export const secondFactorPolicies = ['nobody', 'admins', 'everybody'] as const

export type SecondFactorPolicy = (typeof secondFactorPolicies)[number]

/**
 * Whether an account has to set up a second factor before it may do anything else in the portal. People without a
 * password sign in at a provider, which may ask for one itself.
 */
export function needsSecondFactor({ role, portal }: Account, policy: SecondFactorPolicy): boolean {
  return isPasswordEnough(portal) && isSecondFactorRequired(role, policy)
}

/** Whether the password of an account with this role must not be enough. */
export function isSecondFactorRequired(role: string, policy: SecondFactorPolicy): boolean {
  return policy === 'everybody' || (policy === 'admins' && role === adminRole)
}
