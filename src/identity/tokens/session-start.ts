import type { KeyUses } from '#accounts/keys/uses.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { isForeignKey } from '#platform/secrets/key-format.ts'
import { digestOf, findKey, isApiKeyOf, parseKey } from '#platform/secrets/keys.ts'
import type { Clock } from '#platform/time.ts'
import type { Account, AccountReader } from '#store/accounts.ts'
import { keyOfSession, keyState, type SecretKey, unlimited, validUntil } from '#store/secret-keys.ts'
import { portalEpochIn, type Session, type SessionStore, type Visitor } from '#store/sessions.ts'
import { isFromAllowedAddress } from '../authorize.ts'
import type { TokenLimits } from './access-token.ts'
import { createSessionId } from './refresh-tokens.ts'

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
interface SessionTerms {
  readonly lifetimeMs: number
  readonly idleMs: number
  /** @throws to reject the key */
  readonly assertMay?: (key: SecretKey) => void
}

interface StartedSession {
  readonly account: Account
  readonly session: Pick<Session, 'id' | 'generation' | 'rotatedAt' | 'expiresAt' | 'keyId'>
}

/** Starts a session with both keys of an account. @throws GatehouseError as FindKeyPairOwner; `rate-limited` */
export type StartSession = (pair: KeyPair, visitor: Visitor, terms: SessionTerms) => Promise<StartedSession>

/** How often the start of a session is retried when the account changes concurrently. */
export const startAttemptsMax = 5

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

/** Both keys of an account, as sent. */
export interface KeyPair {
  readonly secretKey: string
  readonly apiKey: string
}

export interface KeyPairOwner {
  readonly account: Account
  readonly key: SecretKey
}

/**
 * The owner of both keys. Reads the store, not a cache, as a pair that was reset must not start a session.
 * @throws GatehouseError `credentials-invalid` (the same, in the same time, for every wrong pair); for a right one
 * `secret-key-expired`, `account-disabled`, `address-forbidden`
 */
export type FindKeyPairOwner = (pair: KeyPair, visitor: Pick<Visitor, 'address'>) => Promise<KeyPairOwner>

export function createKeyPairCheck(
  store: Pick<AccountReader, 'findAccount'>,
  clock: Clock,
): FindKeyPairOwner {
  return async function findOwner(pair, { address }) {
    const digest = secretKeyDigest(pair.secretKey)
    const apiKey = parseKey('apiKey', pair.apiKey)
    if (!digest || !apiKey) throw new GatehouseError('credentials-invalid')
    // By API key, as a secret key that was made elsewhere does not name its account.
    const account = await store.findAccount(apiKey.accountId)
    // Both are always compared: timing must not reveal which of them is wrong.
    const key = findKey(account?.secretKeys ?? [], digest)
    const isApiKey = isApiKeyOf(account, apiKey.digest)
    const state = key ? keyState(key, clock()) : 'revoked'
    if (!account || !key || !isApiKey || state === 'revoked') throw new GatehouseError('credentials-invalid')
    const { id: accountId } = account
    if (state === 'expired') {
      const cause = new Error(`key "${key.name}" of account ${accountId}`)
      throw new GatehouseError('secret-key-expired', { accountId, cause })
    }
    if (account.isDisabled) throw new GatehouseError('account-disabled', { accountId })
    if (!isFromAllowedAddress(key, address)) throw new GatehouseError('address-forbidden', { accountId })
    return { account, key }
  }
}

/** undefined if the text cannot be a secret key, neither one of ours nor one that was made elsewhere. */
function secretKeyDigest(text: string): Uint8Array | undefined {
  return parseKey('secretKey', text)?.digest ?? (isForeignKey(text) ? digestOf(text) : undefined)
}

/**
 * What a session's key is limited to; a portal session has no key, and is only limited by its end.
 * @throws GatehouseError `session-revoked` if the key no longer exists
 */
export function limitsOf(
  account: Account,
  { keyId, expiresAt }: Pick<Session, 'keyId' | 'expiresAt'>,
): TokenLimits {
  if (portalEpochIn(keyId) !== undefined) return { scopes: unlimited, validUntil: expiresAt }
  const key = keyOfSession(account.secretKeys, keyId)
  if (!key) throw new GatehouseError('session-revoked')
  return { scopes: key.scopes, validUntil: validUntil(key) }
}

/**
 * The limits, narrowed to what an OAuth client has asked for (RFC 6749 3.3).
 * @param asked undefined = all that the key has
 * @throws GatehouseError `scope-forbidden` if the key lacks one of them
 */
export function narrowed(limits: TokenLimits, asked: readonly string[] | undefined): TokenLimits {
  assertHasScopes(limits.scopes, asked)
  return { ...limits, scopes: asked ?? limits.scopes }
}

/**
 * @param scopes of a key or token; empty = it is not limited
 * @throws GatehouseError `scope-forbidden` if one of those asked for is not among them
 */
export function assertHasScopes(scopes: readonly string[], asked: readonly string[] = []): void {
  if (scopes.length === 0 || asked.every((scope) => scopes.includes(scope))) return
  const detail = 'The key or token does not have all scopes that were asked for.'
  throw new GatehouseError('scope-forbidden', { detail })
}
