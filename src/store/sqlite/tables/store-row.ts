import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { StoreFailure } from '../../store-failure.ts'
import type { Database } from '../database.ts'

/**
 * The row that tells one store from another, and takes the writes of probes.
 * @throws GatehouseError `store-unavailable` where the database is damaged
 */
export function openStoreRow({ prepare, read }: Pick<Database, 'prepare' | 'read'>) {
  const touch = prepare('UPDATE store SET probed_at = ?')
  const opened = read(() => prepare('SELECT id FROM store').get()?.id)

  return {
    /** To be called within a write. */
    probe: () => void touch.run(Date.now()),
    /**
     * @param id of the store, as it is now
     * @throws GatehouseError `store-unavailable` where another store was written over it
     */
    assertSame: (id: unknown) => {
      if (id === opened) return
      const message =
        'the database has the data of another store: restore the previous data; or, to use this data, restart the gateway'
      throw new GatehouseError('store-unavailable', { cause: new StoreFailure('lost', message) })
    },
  }
}
