import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { ChangeStore } from '../../changes.ts'
import { storeUnavailable } from '../../store-failure.ts'

/** Which accounts are changed while others are read. */
export interface AccountFollower {
  /**
   * Reads the change log to its end.
   * @throws GatehouseError `store-unavailable` where changes are not known
   */
  catchUp(): Promise<void>
  /** The accounts that have changed since the last call, as far as `catchUp` knows. */
  take(): readonly string[]
  close(): void
}

/**
 * Often enough that the log, which keeps the last 2,000 changes, is not cut in between, even if nobody consumes the
 * backup.
 */
const intervalMs = 250

/** @param head position that was read before */
export function followAccounts(log: Pick<ChangeStore, 'readChanges'>, head: number): AccountFollower {
  let position = head
  let ids = new Set<string>()
  let failure: unknown
  let reading = Promise.resolve()
  const timer = setInterval(() => void catchUp().catch(() => {}), intervalMs)

  async function readOn(): Promise<void> {
    const { head, changes } = await log.readChanges(position)
    if (!changes) throw lostError()
    position = head
    for (const { change } of changes) if (change.kind === 'account') ids.add(change.accountId)
  }

  function catchUp(): Promise<void> {
    reading = reading.then(async () => {
      if (failure !== undefined) throw failure
      await readOn()
    })
    reading.catch((error: unknown) => {
      failure = error
    })
    return reading
  }

  return {
    catchUp,
    take: () => {
      const taken = [...ids]
      ids = new Set()
      return taken
    },
    close: () => clearInterval(timer),
  }
}

function lostError(): GatehouseError {
  const message = 'changes were lost since the backup began (a failover, or too many at once): begin again'
  return storeUnavailable('lost', message)
}
