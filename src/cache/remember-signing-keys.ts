import { monotonicClock } from '../clock.ts'
import { isOutOfReach } from '../errors.ts'
import type { Store } from '../store/store.ts'
import { type InstanceMemory, readSigningKeys, signingKeysKey, writeSigningKeys } from './instance-memory.ts'

/** The store, whose signing keys are those that any worker knows while it is out of reach. */
export function rememberSigningKeys(store: Store, memory: InstanceMemory): Store {
  async function listSigningKeys(): ReturnType<Store['listSigningKeys']> {
    const begunAt = monotonicClock()
    try {
      const keys = await store.listSigningKeys()
      memory.learn(signingKeysKey, writeSigningKeys(keys), begunAt)
      return keys
    } catch (error) {
      const known = isOutOfReach(error) ? readSigningKeys(await memory.recall(signingKeysKey)) : undefined
      if (known === undefined) throw error
      return known
    }
  }

  return { ...store, listSigningKeys }
}
