import { randomBytes } from 'node:crypto'
import { createAuditEntryFactory } from '#accounts/audit-log.ts'
import { clientNetwork } from '#platform/addresses.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { createMac, type KeySource } from '#platform/secrets/sealing.ts'
import { type Clock, clocksApartMs } from '#platform/time.ts'
import type { Account, AccountReader } from '#store/accounts.ts'
import type { AuditStore } from '#store/audit.ts'
import type { SecondFactorStore } from '#store/portal.ts'
import { type Passkey, passkeysOf } from '#store/portal-access.ts'
import type { Rate } from '#store/rates.ts'
import type { Visitor } from '#store/sessions.ts'
import { countFailure, takeAuditEntry } from '../limits/failures.ts'
import { takeOrThrow } from '../limits/take-rate.ts'
import type { PasswordCheck, PasswordCheckOptions } from '../passwords/password-check.ts'
import {
  type PasskeyAnswer,
  PasskeyRefused,
  parsePasskeyAnswer,
  type RelyingParty,
  verifyPasskey,
} from './webauthn.ts'

/** What a browser answered, and for which flow it was asked. */
export interface PasskeyGiven {
  /** JSON of the PublicKeyCredential. */
  readonly credential: string
  readonly flow: PasskeyFlow
  readonly visitor: Visitor
}

/** Checks what passkeys have signed. */
export interface PasskeyCheck {
  /**
   * Checks a passkey that verified its user and told whose it is.
   * @returns its account and its name
   * @throws GatehouseError `credentials-invalid`, `too-many-failures`, `rate-limited`
   */
  signIn(given: PasskeyGiven): Promise<{ readonly account: Account; readonly passkey: Passkey }>
  /**
   * Checks a passkey of an account; a wrong one counts like a wrong password.
   * @param client a client that has signed in before; undefined = an unknown one
   * @throws GatehouseError `request-invalid` (field `credential`), `too-many-failures`
   */
  check(account: Account, given: PasskeyGiven & { readonly client: string | undefined }): Promise<Account>
}

export interface PasskeyCheckOptions extends Pick<PasswordCheckOptions, 'limiter' | 'failures' | 'clock'> {
  readonly store: AccountReader & Pick<SecondFactorStore, 'usePasskey'> & Pick<AuditStore, 'appendAudit'>
  readonly check: Pick<PasswordCheck, 'admit' | 'countCode'>
  readonly relyingParty: RelyingParty
}

/** How often browsers of one network may try to sign in with a passkey, as each signature is checked. */
const signInRate: Rate = { limit: 120, perMs: 60_000 }

export const passkeyNotAccepted =
  'The passkey was not accepted. It may have been removed here, or the attempt took too long: try again.'

export function createPasskeyCheck(
  challenges: Pick<PasskeyChallenges, 'timeOf'>,
  { store, check: passwordCheck, limiter, failures, relyingParty, clock }: PasskeyCheckOptions,
): PasskeyCheck {
  const entry = createAuditEntryFactory({ kind: 'system', channel: 'system' }, clock)

  /**
   * Checks the answer, and uses up its challenge.
   * @throws PasskeyRefused
   */
  async function use(
    account: Account | undefined,
    answer: PasskeyAnswer,
    { flow, visitor }: PasskeyGiven,
  ): Promise<Passkey> {
    const challengeAt = challenges.timeOf(answer.challenge, flow)
    if (challengeAt === undefined) throw new PasskeyRefused(voidChallenge)
    const passkey = account && passkeysOf(account.portal).find(({ id }) => id === answer.id)
    if (!account || !passkey) throw new PasskeyRefused('no account has this passkey')
    const isTheirs = answer.userHandle === account.id
    if (answer.userHandle !== '' && !isTheirs) throw new PasskeyRefused('it names another account')
    const mustVerifyUser = flow.purpose !== 'second-factor'
    const counter = await verifyPasskey(answer, passkey, { ...relyingParty, mustVerifyUser })
    const used = await store.usePasskey(account.id, { id: passkey.id, counter, challengeAt, now: clock() })
    if (used === 'used') return passkey
    if (used === 'counter') {
      const { name } = passkey
      const details = { reason: 'passkey-counter', passkey: name, address: visitor.address }
      await store.appendAudit(entry('sign-in-failed', account, details))
    }
    throw new PasskeyRefused(`the store refused it: ${used}`, used === 'counter')
  }

  async function signIn(given: PasskeyGiven) {
    const { address } = given.visitor
    await takeOrThrow(limiter, 'passkey', clientNetwork(address), signInRate)
    let account: Account | undefined
    try {
      const answer = parsePasskeyAnswer(given.credential)
      account = answer.userHandle === '' ? undefined : await store.findAccount(answer.userHandle)
      const passkey = await use(account, answer, given)
      const after = account && (await store.findAccount(account.id))
      // Whoever cannot sign in with a password may not sign in without one.
      if (after?.portal.password === undefined) throw new PasskeyRefused('the account has no password')
      if (!passkeysOf(after.portal).some(({ id }) => id === passkey.id))
        throw new PasskeyRefused('it has just been removed')
      return { account: after, passkey }
    } catch (error) {
      throw await refusalOf(error, account, given.visitor)
    }
  }

  /** Counts and records a refusal. @returns the error to throw */
  async function refusalOf(
    error: unknown,
    account: Account | undefined,
    { address }: Visitor,
  ): Promise<unknown> {
    if (!(error instanceof PasskeyRefused)) return error
    if (account && !error.isRecorded && takeAuditEntry(limiter, 'passkey'))
      await store.appendAudit(entry('sign-in-failed', account, { reason: 'passkey', address }))
    const excess = await countFailure(limiter, failures, { address, isMalformed: false })
    const accountId = account?.id
    return (
      excess ??
      new GatehouseError('credentials-invalid', { detail: passkeyNotAccepted, cause: error, accountId })
    )
  }

  const check: PasskeyCheck['check'] = async (account, given) => {
    const { visitor, client } = given
    await passwordCheck.admit(account.email, visitor)
    const attempt = { account, visitor, client, wrong: invalidField('credential', passkeyNotAccepted) }
    await passwordCheck.countCode(attempt, async () => {
      try {
        await use(account, parsePasskeyAnswer(given.credential), given)
        return true
      } catch (error) {
        if (error instanceof PasskeyRefused) return false
        throw error
      }
    })
    const after = await store.findAccount(account.id)
    if (!after) throw new GatehouseError('credentials-invalid')
    return after
  }

  return { signIn, check }
}

/** What a challenge is for, and whose it is: it is void for anything else. */
export interface PasskeyFlow {
  readonly purpose: 'add' | 'sign-in' | 'second-factor' | 'confirm'
  /** A secret that only this browser knows, such as the CSRF token of its form. */
  readonly browser: string
  /** undefined = the passkey tells whose it is. */
  readonly accountId?: string | undefined
}

/**
 * Challenges for passkeys: signed with the time and the flow, so that nothing is kept until one is answered. The store
 * accepts the answer to each once.
 */
interface PasskeyChallenges {
  /** base64url, good for `challengeLifetimeMs`. */
  create(flow: PasskeyFlow): string
  /** When it was made; undefined = it was not made by this gateway and for this flow, or too long ago. */
  timeOf(challenge: string, flow: PasskeyFlow): number | undefined
}

/** Why an answer is refused, for the log. */
export const voidChallenge = 'the challenge is not of this flow, or too old'

export const challengeLifetimeMs = 5 * 60_000
const pattern = /^(\d{1,16})\.([\w-]{22})\.([\w-]{43})$/

/** @param keys sign the challenges; derived from the sealing keys */
export function createPasskeyChallenges(keys: KeySource, clock: Clock): PasskeyChallenges {
  const mac = createMac(keys)
  const textOf = (signed: string, { purpose, browser, accountId = '' }: PasskeyFlow) =>
    `passkey ${signed} ${purpose} ${accountId} ${browser}`

  return {
    create: (flow) => {
      const signed = `${clock()}.${randomBytes(16).toString('base64url')}`
      return Buffer.from(`${signed}.${mac.sign(textOf(signed, flow))}`).toString('base64url')
    },
    timeOf: (challenge, flow) => {
      const [, at = '', nonce, signature = ''] =
        pattern.exec(Buffer.from(challenge, 'base64url').toString('latin1')) ?? []
      const age = clock() - Number(at)
      if (at === '' || age < -clocksApartMs || age >= challengeLifetimeMs) return undefined
      return mac.isValid(textOf(`${at}.${nonce}`, flow), signature) ? Number(at) : undefined
    },
  }
}
