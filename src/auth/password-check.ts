import { hash } from 'node:crypto'
import type { Passwords } from '../accounts/passwords.ts'
import { GatehouseError } from '../errors.ts'
import { emailKey } from '../store/email-key.ts'
import type { Account, Rate } from '../store/store.ts'
import type { Visitor } from '../store/visitor.ts'
import { clientNetwork } from '../wire/client-network.ts'
import { countFailure } from './limits.ts'
import type { Limiter } from './rate-limit.ts'

/** Checks passwords, at no more than the rate at which people type them. */
export interface PasswordCheck {
  /**
   * To be called before the account is looked up, whether or not there is one.
   * @throws GatehouseError `too-many-failures`
   */
  admit(email: string, visitor: Visitor): Promise<void>
  /** @throws GatehouseError `credentials-invalid`, `too-many-failures`, `sign-in-busy` */
  verify(account: Account | undefined, password: string, visitor: Visitor): Promise<void>
}

export interface PasswordCheckOptions {
  readonly passwords: Passwords
  readonly limiter: Limiter
  /** How many wrong credentials one client address may send. */
  readonly failures: Rate
}

/**
 * One address may try this many times `limits.failures` for one e-mail, right or wrong. A key has 256 bits: it is
 * judged first, and only a wrong one is counted. A password can be guessed: beyond this limit the answer does not tell
 * whether it was right (docs/decisions/0016-portal.md).
 */
const attemptsPerFailure = 3

export function createPasswordCheck({ passwords, limiter, failures }: PasswordCheckOptions): PasswordCheck {
  return {
    admit: async (email, { address }) => {
      const limit = failures.limit * attemptsPerFailure
      const subject = `password ${clientNetwork(address)} ${hash('sha256', emailKey(email), 'base64url')}`
      const taken = await limiter.take(subject, { ...failures, limit })
      if (taken.isAllowed) return
      // Not the text of the table: here even a right password does not pass.
      const detail = 'Too many attempts with this e-mail from this address.'
      throw new GatehouseError('too-many-failures', { detail, rate: { limit, ...taken } })
    },
    verify: async (account, password, { address }) => {
      if (await passwords.verify(password, account?.portal.password, clientNetwork(address))) return
      const excess = await countFailure(limiter, failures, { address, isMalformed: false })
      if (excess) throw excess
      throw new GatehouseError('credentials-invalid', { detail: 'E-mail and password do not match.' })
    },
  }
}
