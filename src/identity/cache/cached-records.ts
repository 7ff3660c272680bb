import { isStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import { compactDigest } from '#platform/secrets/keys.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import { isPasswordEnough } from '#store/portal-access.ts'
import { keyQuotaSubject } from '#store/quotas.ts'
import type { SecretKey } from '#store/secret-keys.ts'
import type { Session } from '#store/sessions.ts'
import type { SigningKeyStore, StoredSigningKey } from '#store/signing-keys.ts'
import type { BlockedSubject } from '#store/subjects.ts'
import type { Profile } from '../decision.ts'
import type { CachedAccount, CachedKey, CachedSession, CachedSubject } from '../directory.ts'

/** The part of an account that decisions need. */
export function toCachedAccount(account: Account | undefined): CachedAccount | undefined {
  if (!account) return undefined
  const { role, plan, email, firstName, lastName, isVerified, isDisabled, sessionEpoch, roleEpoch } = account
  const { portal } = account
  const profile = { email, firstName, lastName, isVerified }
  const keys = account.secretKeys.map((key) => toCachedKey(key, account, profile))
  return {
    isDisabled,
    sessionEpoch,
    roleEpoch,
    portalEpoch: portal.epoch,
    isPasswordEnough: isPasswordEnough(portal),
    role,
    plan,
    profile,
    keys,
  }
}

function toCachedKey(key: SecretKey, account: Account, profile: Profile): CachedKey {
  const { id, digest, expiresAt, revokedAt, name, scopes, addresses, quota } = key
  const principal = {
    accountId: account.id,
    key: name,
    scopes,
    addresses,
    plan: account.plan,
    quota: quota && {
      limit: quota.limit,
      per: quota.per,
      subject: keyQuotaSubject(account.id, quota),
    },
    issuer: undefined,
    role: account.role,
    scheme: 'secretKey',
    sessionId: undefined,
    profile,
  } as const
  return { id, digest: compactDigest(digest), expiresAt, revokedAt, principal }
}

export const endedSession: CachedSession = { isEnded: true }

/** The part of a session that decisions need. */
export function toCachedSession(session: Session | undefined): CachedSession | undefined {
  if (!session) return undefined
  const { accountId, sessionEpoch, keyId, end } = session
  return end === undefined ? { accountId, sessionEpoch, keyId, isEnded: false } : endedSession
}

/** Two shared objects, as there may be many principals. */
const blocked: CachedSubject = { isBlocked: true }
const notBlocked: CachedSubject = { isBlocked: false }

export function toCachedSubject(found: BlockedSubject | undefined): CachedSubject {
  return found ? blocked : notBlocked
}

/**
 * What the workers of an instance have looked up, kept in their parent process, and read only while the store is
 * unreachable: a worker that was just started, or has never seen a caller, can then still serve the callers that
 * another worker has looked up. Values are plain JSON.
 */
export interface InstanceMemory {
  /** Resolves to undefined if nothing is cached, or there is no answer in time. Never rejects. */
  recall(key: string): Promise<unknown>
  /** @param startedAt when the look-up began: changes since then are newer */
  learn(key: string, value: unknown, startedAt: MonotonicMs): void
  /** To be called as soon as a change is known. */
  forget(key: string): void
  /** From now on this process forgets what changes. If no other did so before, everything is dropped. */
  watch(): void
  /** Drops everything, as changes may have been missed. */
  clear(): void
}

/** The memory as a starting worker gets it. */
export interface WorkerMemory extends InstanceMemory {
  /** When a worker last read the change log; undefined = never. */
  readonly lastReadAt: MonotonicMs | undefined
}

export const accountKey = (id: string) => `account ${id}`
export const sessionKey = (id: string) => `session ${id}`
export const subjectKey = (principalId: string) => `subject ${principalId}`
export const signingKeysKey = 'signing-keys'

/** An account as plain JSON. */
export function serializeAccount({ keys, ...rest }: CachedAccount): unknown {
  const toPlain = ({ principal, ...key }: CachedKey) => ({
    ...key,
    principal: { ...principal, profile: undefined },
  })
  return { ...rest, keys: keys.map(toPlain) }
}

/** @param value from `serializeAccount`, in a process of the same version */
export function deserializeAccount(value: unknown): CachedAccount | undefined {
  if (value === undefined) return undefined
  const { keys, ...rest } = value as CachedAccount
  // JSON drops members that are undefined, yet their types ask for them: each is named, even if that looks redundant.
  return {
    ...rest,
    plan: rest.plan,
    keys: keys.map(({ expiresAt, revokedAt, principal, ...key }) => ({
      ...key,
      expiresAt,
      revokedAt,
      principal: {
        ...principal,
        sessionId: undefined,
        plan: principal.plan,
        quota: principal.quota,
        profile: rest.profile,
        issuer: undefined,
      },
    })),
  }
}

/** The signing keys of the store, or while it is unreachable, those that any worker has cached. */
export function withCachedSigningKeys(
  store: SigningKeyStore,
  memory: InstanceMemory,
): Omit<SigningKeyStore, 'resealSigningKey'> {
  async function listSigningKeys(): ReturnType<SigningKeyStore['listSigningKeys']> {
    const startedAt = monotonicClock()
    try {
      const keys = await store.listSigningKeys()
      memory.learn(signingKeysKey, serializeSigningKeys(keys), startedAt)
      return keys
    } catch (error) {
      const known = isStoreUnavailable(error)
        ? deserializeSigningKeys(await memory.recall(signingKeysKey))
        : undefined
      if (known === undefined) throw error
      return known
    }
  }

  const { addSigningKey, retireSigningKey } = store
  return { listSigningKeys, addSigningKey, retireSigningKey }
}

/** Signing keys as plain JSON, sealed as in the store. */
function serializeSigningKeys(keys: readonly StoredSigningKey[]): unknown {
  return keys.map((key) => ({ ...key, sealed: Buffer.from(key.sealed).toString('base64') }))
}

/** @param value from `serializeSigningKeys`, in a process of the same version */
function deserializeSigningKeys(value: unknown): readonly StoredSigningKey[] | undefined {
  if (value === undefined) return undefined
  const keys = value as readonly (Omit<StoredSigningKey, 'sealed'> & { readonly sealed: string })[]
  return keys.map((key) => ({ ...key, publicKey: key.publicKey, sealed: Buffer.from(key.sealed, 'base64') }))
}
