import { isStoreUnavailable } from '../errors/gatehouse-error.ts'
import { monotonicClock } from '../platform/clock.ts'
import type { SigningKeyStore } from '../store/signing-keys.ts'
import {
  deserializeSigningKeys,
  type InstanceMemory,
  serializeSigningKeys,
  signingKeysKey,
} from './instance-memory.ts'

/** The signing keys of the store; while it is unreachable, those that any worker has cached. */
export function withCachedSigningKeys(store: SigningKeyStore, memory: InstanceMemory): SigningKeyStore {
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
