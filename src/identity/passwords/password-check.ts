import { hash } from 'node:crypto'
import { createAuditEntryFactory } from '#accounts/audit-log.ts'
import { clientNetwork, widerNetwork } from '#platform/addresses.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import type { Passwords } from '#platform/secrets/passwords.ts'
import type { WorkOwner } from '#platform/secrets/work-queue.ts'
import { type Clock, dayMs } from '#platform/time.ts'
import { type Account, emailKey } from '#store/accounts.ts'
import type { AuditStore } from '#store/audit.ts'
import type { AttemptOutcome, PortalStore } from '#store/portal.ts'
import { passwordFailuresMax } from '#store/portal-access.ts'
import { exceededRateOf, type Rate } from '#store/rates.ts'
import type { Visitor } from '#store/sessions.ts'
import { countFailure, takeAuditEntry } from '../limits/failures.ts'
import type { RateLimiter } from '../limits/rate-limiter.ts'

interface PasswordAttempt {
  readonly email: string
  readonly account: Account | undefined
  readonly password: string
  readonly visitor: Visitor
  /** The ID of a client that has signed in to this account before; undefined = an unknown client. */
  readonly client: string | undefined
}

/** Verifies passwords, at no more than the rate at which people type them. */
export interface PasswordCheck {
  /**
   * To be called before the account is looked up, whether or not it exists.
   * @throws GatehouseError `too-many-failures`
   */
  admit(email: string, visitor: Visitor): Promise<void>
  /**
   * @returns the account, if the password is right
   * @throws GatehouseError `credentials-invalid`, `too-many-failures`, `sign-in-busy`
   */
  verify(attempt: PasswordAttempt): Promise<Account>
  /**
   * Counts a one-time code, or a passkey, among the wrong passwords of the account, unless it is right.
   * @param attempt `wrong`: the error for a wrong one; default: `request-invalid` (field `code`)
   * @throws GatehouseError `too-many-failures`
   */
  countCode(
    attempt: Pick<PasswordAttempt, 'visitor' | 'client'> & {
      readonly account: Account
      readonly wrong?: GatehouseError
    },
    isRight: () => Promise<boolean>,
  ): Promise<void>
}

export interface PasswordCheckOptions {
  readonly store: Pick<PortalStore, 'countPasswordAttempt' | 'settlePasswordAttempt'> &
    Pick<AuditStore, 'appendAudit'>
  readonly passwords: Passwords
  readonly limiter: RateLimiter
  /** How many wrong credentials one client address may send. */
  readonly failures: Rate
  readonly clock: Clock
}

/**
 * One address may make this many times `limits.failures` attempts for one e-mail, right or wrong. Of keys, which have
 * 256 bits, only wrong ones are counted, after verification. But a password can be guessed, so beyond this limit the
 * response does not tell whether it was right (docs/decisions/0016-portal.md).
 */
const attemptsPerFailure = 3
/**
 * An unknown e-mail is rejected after as many attempts as an account, which would otherwise reveal accounts. Unlike an
 * account's, its count ends with time, as strangers can make up e-mails without end (docs/decisions/0023-guessing.md).
 */
const unknownEmailRate: Rate = { limit: passwordFailuresMax.byStrangers, perMs: dayMs }
/** Which of several failures in a row are audited: few, so that guessing does not displace other entries. */
const auditedFailures: ReadonlySet<number> = new Set([
  1,
  2,
  5,
  10,
  20,
  40,
  passwordFailuresMax.byStrangers,
  90,
  100,
])

export function createPasswordCheck(options: PasswordCheckOptions): PasswordCheck {
  const { store, passwords, limiter, failures, clock } = options
  const entry = createAuditEntryFactory({ kind: 'system', channel: 'system' }, clock)

  async function admit(email: string, { address }: Visitor): Promise<void> {
    const rate = { ...failures, limit: failures.limit * attemptsPerFailure }
    const subject = `${clientNetwork(address)} ${emailDigest(email)}`
    const taken = await limiter.take('password', subject, rate)
    if (taken.isAllowed) return
    // Differs from the detail of the code, as even the right password is rejected here.
    const detail = 'Too many attempts with this e-mail from this address.'
    throw new GatehouseError('too-many-failures', { detail, rate: exceededRateOf('failures', rate, taken) })
  }

  /**
   * Counts the attempt before it is verified.
   * @returns the consecutive attempts including this; undefined = no account
   */
  async function countAttempt({ account, client, email }: PasswordAttempt): Promise<number | undefined> {
    if (!account) {
      const taken = await limiter.take('nobody', emailDigest(email), unknownEmailRate)
      if (!taken.isAllowed) throw tooManyConsecutive(undefined)
      return undefined
    }
    const reserved = await store.countPasswordAttempt(account.id, client)
    if (reserved.kind === 'refused') throw tooManyConsecutive(account.id)
    return reserved.kind === 'counted' ? reserved.inARow : undefined
  }

  async function verify(attempt: PasswordAttempt): Promise<Account> {
    const { account, password, visitor, client } = attempt
    const inARow = await countAttempt(attempt)
    const settle = async (outcome: AttemptOutcome) => {
      if (account) await store.settlePasswordAttempt(account.id, outcome, client)
    }
    const stored = inARow === undefined ? undefined : account?.portal.password
    const owner = workOwnerOf(visitor, client !== undefined)
    const isRight = await passwords.verify(password, stored, owner).catch(async (error: unknown) => {
      // It was not verified, because the queue was full.
      await settle('not-wrong')
      throw error
    })
    if (isRight && account) {
      // With a second factor, only its code clears earlier failures: otherwise whoever has the password could guess
      // codes for ever.
      const isComplete = client !== undefined && account.portal.secondFactor === undefined
      await settle(isComplete ? 'known-client' : 'not-wrong')
      return account
    }
    if (account && inARow !== undefined) await audit(account, inARow, attempt)
    const { address } = visitor
    const excess = await countFailure(limiter, failures, { address, isMalformed: false })
    const error = excess ?? new GatehouseError('credentials-invalid', { detail: wrongPassword })
    throw account
      ? withAccount(error, account.id, `wrong password, ${inARow ?? 0} consecutive failures`)
      : error
  }

  const countCode: PasswordCheck['countCode'] = async ({ account, visitor, client, wrong }, isRight) => {
    const reserved = await store.countPasswordAttempt(account.id, client)
    const wrongError = wrong ?? invalidField('code', wrongCode)
    // `unknown`: the account was deleted in the meantime, so nothing can be right.
    if (reserved.kind !== 'counted')
      throw reserved.kind === 'refused' ? tooManyConsecutive(account.id) : wrongError
    const settle = (outcome: AttemptOutcome) => store.settlePasswordAttempt(account.id, outcome, client)
    const isDone = await isRight().catch(async (error: unknown) => {
      await settle('not-wrong')
      throw error
    })
    if (isDone) return settle(client === undefined ? 'not-wrong' : 'known-client')
    await audit(account, reserved.inARow, { visitor, client })
    const { address } = visitor
    const excess = await countFailure(limiter, failures, { address, isMalformed: false })
    if (excess)
      throw withAccount(excess, account.id, `wrong code or passkey, ${reserved.inARow} consecutive failures`)
    throw wrongError
  }

  async function audit(
    account: Account,
    inARow: number,
    { visitor, client }: Pick<PasswordAttempt, 'visitor' | 'client'>,
  ): Promise<void> {
    if (!auditedFailures.has(inARow) || !takeAuditEntry(limiter, 'password')) return
    const { address } = visitor
    const details = { address, inARow, isKnownClient: client !== undefined }
    await store.appendAudit(entry('sign-in-failed', account, details))
  }

  return { admit, verify, countCode }
}

/** The owner whose share of the queue a password verification or hash counts against. */
export function workOwnerOf({ address }: Visitor, isKnown: boolean): WorkOwner {
  return { client: clientNetwork(address), network: widerNetwork(address), isKnown }
}

const wrongCode = 'The code is wrong, too old, or was used before.'
const wrongPassword = 'E-mail and password do not match.'

function tooManyConsecutive(accountId: string | undefined): GatehouseError {
  return new GatehouseError('too-many-failures', {
    accountId,
    detail:
      'Too many consecutive wrong passwords for this e-mail. Sign in from a browser you have used before, or use a set-up link to choose a new password.',
    cause: new Error('password not checked: too many consecutive failures'),
  })
}

/** @param reason for the log */
function withAccount(error: GatehouseError, accountId: string, reason: string): GatehouseError {
  const { code, detail, rate } = error
  return new GatehouseError(code, {
    accountId,
    cause: new Error(reason),
    ...(detail !== undefined && { detail }),
    ...(rate && { rate }),
  })
}

/** Stands for an e-mail in counters: e-mails may be long, and a digest is not. */
export function emailDigest(email: string): string {
  return hash('sha256', emailKey(email), 'base64url')
}
