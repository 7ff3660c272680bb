import { monotonicClock } from '#platform/clock.ts'
import { isStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import type { SigningKeyStore, StoredSigningKey } from '#store/signing-keys.ts'
import type { CachedAccount, CachedKey } from '../principal.ts'

/**
 * What the workers of an instance have looked up, kept in the process that started them: a worker that is replaced
 * while the store is unreachable, or has never seen some caller, still serves callers the instance has cached. Values
 * are plain JSON. Used only while the store is unreachable.
 */
export interface InstanceMemory {
  /** Resolves to undefined where nothing is cached, or there is no response in time. Never rejects. */
  recall(key: string): Promise<unknown>
  /** @param startedAt when the look-up began, on the clock of performance.now(): what changed since is newer */
  learn(key: string, value: unknown, startedAt: number): void
  /** To be called as soon as a change is known. */
  forget(key: string): void
  /** From now on this process drops what changes: where no other did so until now, everything is outdated. */
  watch(): void
  /** Changes may have been missed: everything is outdated. */
  clear(): void
}

/** The memory as a worker gets it at its start. */
export interface WorkerMemory extends InstanceMemory {
  /** When a worker last read the change log, on the clock of performance.now(); undefined = never. */
  readonly lastReadAt: number | undefined
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
        profile: rest.profile,
        issuer: undefined,
      },
    })),
  }
}

/** The signing keys of the store; while it is unreachable, those that any worker has cached. */
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
  return keys.map((key) => ({ ...key, sealed: encode(key.sealed) }))
}

/** @param value from `serializeSigningKeys`, in a process of the same version */
function deserializeSigningKeys(value: unknown): readonly StoredSigningKey[] | undefined {
  if (value === undefined) return undefined
  const keys = value as readonly (Omit<StoredSigningKey, 'sealed'> & { readonly sealed: string })[]
  return keys.map((key) => ({ ...key, publicKey: key.publicKey, sealed: decode(key.sealed) }))
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

function decode(text: string): Uint8Array {
  return Buffer.from(text, 'base64')
}
