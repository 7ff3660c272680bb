import { createHmac, randomBytes } from 'node:crypto'
import { isSameText, type KeySource, keysOf } from '#platform/secrets/sealing.ts'
import type { Clock } from '#platform/time.ts'

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
export interface PasskeyChallenges {
  /** base64url, good for `challengeLifetimeMs`. */
  create(flow: PasskeyFlow): string
  /** When it was made; undefined = not here, for another flow, or too long ago. */
  timeOf(challenge: string, flow: PasskeyFlow): number | undefined
}

/** Why an answer is refused, for the log. */
export const voidChallenge = 'the challenge is not of this flow, or too old'

export const challengeLifetimeMs = 5 * 60_000
/** The clocks of two instances may differ by this much. */
const clocksApartMs = 60_000
const pattern = /^(\d{1,16})\.([\w-]{22})\.([\w-]{43})$/

/** @param keys sign the challenges; derived from the sealing keys */
export function createPasskeyChallenges(keys: KeySource, clock: Clock): PasskeyChallenges {
  function signatureOf(key: Uint8Array, signed: string, { purpose, browser, accountId = '' }: PasskeyFlow) {
    return createHmac('sha256', key)
      .update(`passkey ${signed} ${purpose} ${accountId} ${browser}`)
      .digest('base64url')
  }

  return {
    create: (flow) => {
      const signed = `${clock()}.${randomBytes(16).toString('base64url')}`
      return Buffer.from(`${signed}.${signatureOf(keysOf(keys)[0], signed, flow)}`).toString('base64url')
    },
    timeOf: (challenge, flow) => {
      const [, at = '', nonce, signature = ''] =
        pattern.exec(Buffer.from(challenge, 'base64url').toString('latin1')) ?? []
      const age = clock() - Number(at)
      if (at === '' || age < -clocksApartMs || age >= challengeLifetimeMs) return undefined
      const isOurs = keysOf(keys).some((key) =>
        isSameText(signatureOf(key, `${at}.${nonce}`, flow), signature),
      )
      return isOurs ? Number(at) : undefined
    },
  }
}
