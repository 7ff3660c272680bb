import { GatehouseError } from '../../../errors/gatehouse-error.ts'
import { StoreFailure } from '../../store-failure.ts'
import type { Database } from '../database.ts'

/**
 * The row that tells one store from another, and takes the writes of probes.
 * @throws GatehouseError `store-unavailable` where the database is damaged
 */
export function openStoreRow({ prepare, read }: Pick<Database, 'prepare' | 'read'>) {
  const selectId = prepare('SELECT id FROM store')
  const touch = prepare('UPDATE store SET probed_at = ?')
  const opened = read(() => selectId.get()?.id)

  return {
    /** To be called within a write. */
    probe: () => void touch.run(Date.now()),
    /**
     * To be called within a read.
     * @throws GatehouseError `store-unavailable` where another store was written over it
     */
    assertSame: () => {
      if (selectId.get()?.id === opened) return
      const message =
        'the database has the data of another store: restore the previous data; or, to use this data, restart the gateway'
      throw new GatehouseError('store-unavailable', { cause: new StoreFailure('lost', message) })
    },
  }
}
