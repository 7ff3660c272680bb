import { isStoreUnavailable } from '../errors/gatehouse-error.ts'
import { monotonicClock } from '../platform/clock.ts'
import type { Store } from '../store/store.ts'
import {
  deserializeSigningKeys,
  type InstanceMemory,
  serializeSigningKeys,
  signingKeysKey,
} from './instance-memory.ts'

/** The store, whose signing keys are those that any worker knows while it is out of reach. */
export function withCachedSigningKeys(store: Store, memory: InstanceMemory): Store {
  async function listSigningKeys(): ReturnType<Store['listSigningKeys']> {
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

  return { ...store, listSigningKeys }
}
