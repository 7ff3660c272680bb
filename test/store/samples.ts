import { randomBytes } from 'node:crypto'
import { createSessionId } from '#identity/tokens/refresh-tokens.ts'
import { createAccountId } from '#platform/secrets/keys.ts'
import type { Account } from '#store/accounts.ts'
import type { ChangeLogReading } from '#store/changes.ts'
import { noPortalAccess } from '#store/portal-access.ts'
import {
  defaultKeyName,
  defaultKeyOf,
  overlappingKeyOf,
  type SecretKey,
  type StoredKey,
} from '#store/secret-keys.ts'
import type { NewSession, RefreshTokenUse } from '#store/sessions.ts'
import type { StoredSigningKey } from '#store/signing-keys.ts'
import type { Store } from '#store/store.ts'

/** A time of the cases. Not made up: Redis lets records expire by its own clock. */
export const now = Date.now()

export const second = 1_000
export const hour = 3_600_000
export const day = 24 * hour

export const visitor = { address: '192.0.2.7', userAgent: 'Mozilla/5.0 (test)' }

export function newKey(changes: Partial<StoredKey> = {}): StoredKey {
  return { digest: randomBytes(32), sealed: randomBytes(80), createdAt: now, ...changes }
}

/** A default key that is not limited. */
export function newSecretKey(changes: Partial<SecretKey> = {}): SecretKey {
  const limits = { scopes: [], addresses: [], expiresAt: undefined, revokedAt: undefined }
  const named = { id: randomBytes(4).toString('hex'), name: defaultKeyName, isImported: false }
  return { ...newKey(), ...named, ...limits, ...changes }
}

/** The default key of an account. */
export function secretKeyOf(account: Pick<Account, 'secretKeys'> | undefined): SecretKey {
  const key = account && defaultKeyOf(account)
  if (!key) throw new Error('no default key')
  return key
}

/** The default key before the last reset: its digest, and until when it works. */
export function overlapOf(account: Pick<Account, 'secretKeys'> | undefined) {
  const key = account && overlappingKeyOf(account, Number.NEGATIVE_INFINITY)
  return key && { digest: key.digest, validUntil: key.revokedAt }
}

export function newAccount(changes: Partial<Account> = {}): Account {
  const id = createAccountId()
  return {
    id,
    email: `${id}@example.com`,
    firstName: 'Ada',
    lastName: 'Lovelace',
    role: 'User',
    isVerified: true,
    isDisabled: false,
    createdAt: now,
    revision: 1,
    sessionEpoch: 1,
    roleEpoch: 1,
    secretKeys: [newSecretKey()],
    apiKey: newKey(),
    portal: noPortalAccess,
    plan: undefined,
    ...changes,
  }
}

export async function createAccount(store: Store, changes: Partial<Account> = {}): Promise<Account> {
  const account = newAccount(changes)
  const { kind } = await store.createAccounts([account])
  if (kind !== 'created') throw new Error(`the account was not created: ${kind}`)
  return account
}

export function newSession(
  { id: accountId, secretKeys }: Pick<Account, 'id' | 'secretKeys'>,
  changes: Partial<NewSession> = {},
): NewSession {
  const times = { createdAt: now, expiresAt: now + day, idleMs: hour, openMax: 100 }
  const keyId = secretKeys[0]?.id ?? ''
  return { id: createSessionId(), accountId, ...times, keyId, visitor, ...changes }
}

export async function startSession(
  store: Store,
  account: Pick<Account, 'id' | 'revision' | 'sessionEpoch' | 'secretKeys'>,
  changes: Partial<NewSession> = {},
): Promise<NewSession> {
  const session = newSession(account, changes)
  const started = await store.startSession(session, account)
  if (started !== 'started') throw new Error(`the session was not started: ${started}`)
  return session
}

/** A use of the first refresh token of a session, a second after its start. */
export function useOf(
  { id }: Pick<NewSession, 'id'>,
  changes: Partial<RefreshTokenUse> = {},
): RefreshTokenUse {
  const times = { now: now + second, graceMs: 10 * second, idleMs: hour }
  return { sessionId: id, generation: 1, ...times, visitor, ...changes }
}

export function newSigningKey(changes: Partial<StoredSigningKey> = {}): StoredSigningKey {
  return {
    kid: createSessionId(),
    algorithm: 'ES256',
    sealed: randomBytes(200),
    publicKey: '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n',
    createdAt: now,
    signsFrom: now,
    ...changes,
  }
}

/** IDs in the order of those of one moment: by their bytes, which no language orders so. */
export const orderedIds = ['-', '0a', '9', 'A', 'Zz', '_', 'a', 'aB', 'aa', 'z'] as const
export const mixedIds = ['aB', 'z', '_', 'A', '9', 'aa', '-', 'Zz', 'a', '0a'] as const

/** A reading of the change log, without the times. */
export function withoutTimes({ head, changes }: ChangeLogReading): unknown {
  return { head, changes: changes?.map(({ change }) => change) }
}

/** A record with its bytes in hexadecimal: whether they come as Buffer or Uint8Array is the adapter's. */
export function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]))
}
