import type { KeyUses } from '#accounts/key-uses.ts'
import type { Clock } from '#platform/clock.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/account.ts'
import type { SecretKey } from '#store/secret-keys.ts'
import type { Session, SessionStore, Visitor } from '#store/sessions.ts'
import type { FindKeyPairOwner, KeyPair } from './key-pair.ts'
import { createSessionId } from './refresh-token.ts'

export interface SessionStartOptions {
  readonly store: Pick<SessionStore, 'startSession'>
  readonly findOwner: FindKeyPairOwner
  /** How many sessions an account may have: beyond that the oldest ends. */
  readonly openMax: number
  /** Called for an account whose keys are valid, before a session starts. @throws to reject it */
  readonly admit: (accountId: string) => Promise<void>
  /** Records the keys that a session was started with. */
  readonly keyUses?: Pick<KeyUses, 'record'> | undefined
  readonly clock: Clock
}

/** How long a session may last; its key may end it before. */
export interface SessionTerms {
  readonly lifetimeMs: number
  readonly idleMs: number
  /** @throws to reject the key */
  readonly assertMay?: (key: SecretKey) => void
}

export interface StartedSession {
  readonly account: Account
  readonly session: Pick<Session, 'id' | 'generation' | 'rotatedAt' | 'expiresAt' | 'keyId'>
}

/** Starts a session with both keys of an account. @throws GatehouseError as FindKeyPairOwner; `rate-limited` */
export type StartSession = (pair: KeyPair, visitor: Visitor, terms: SessionTerms) => Promise<StartedSession>

/** How often a start is retried when the account changes concurrently. */
const startAttemptsMax = 5

export function createSessionStart(options: SessionStartOptions): StartSession {
  const { store, findOwner, openMax, admit, keyUses, clock } = options

  return async function startSession(pair, visitor, { lifetimeMs, idleMs, assertMay }) {
    for (let attempt = 0; attempt < startAttemptsMax; attempt++) {
      const { account, key } = await findOwner(pair, visitor)
      assertMay?.(key)
      if (attempt === 0) await admit(account.id)
      const now = clock()
      const session = {
        id: createSessionId(),
        accountId: account.id,
        createdAt: now,
        expiresAt: Math.min(now + lifetimeMs, key.expiresAt ?? Number.POSITIVE_INFINITY),
        keyId: key.id,
        visitor,
      }
      const started = await store.startSession({ ...session, idleMs, openMax }, account)
      if (started === 'account-changed') continue
      for (const text of [pair.secretKey, pair.apiKey])
        keyUses?.record(account.id, text, visitor.address, 'accessToken')
      return { account, session: { ...session, generation: 1, rotatedAt: now } }
    }
    throw new GatehouseError('store-unavailable')
  }
}
