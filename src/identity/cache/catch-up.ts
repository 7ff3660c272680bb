import type { Clock } from '#platform/clock.ts'
import type { Currency } from './currency.ts'
import type { StoreConnectionState } from './store-connection-state.ts'

export interface CatchUpOptions {
  readonly storeConnection: Readonly<StoreConnectionState>
  readonly currency: Currency
  readonly monotonic: Clock
  /** Reads the change log; resolves whether or not the store responded. */
  poll(): Promise<void>
}

/** How often a process that stalled tries to read the change log. */
const gapMs = 10

/** Creates the function that waits until cached data is as of its call, or the store is unreachable. */
export function createCatchUp({ storeConnection, currency, monotonic, poll }: CatchUpOptions) {
  let pause: Promise<void> | undefined

  async function catchUp(): Promise<void> {
    const since = monotonic()
    currency.onLapse()
    while (storeConnection.readAt < since && !currency.isOutage()) {
      await poll().catch(throwIfLate)
      if (!storeConnection.isUp) await pauseShared()
    }
  }

  /** A fault, not an outage: then the cache is not used, however long it lasts. */
  async function throwIfLate(fault: unknown): Promise<void> {
    currency.onLapse()
    if (currency.hasTried()) throw fault
    await pauseShared()
  }

  /** All callers share one timer. */
  function pauseShared(): Promise<void> {
    pause ??= new Promise<void>((resolve) => setTimeout(resolve, gapMs)).finally(() => {
      pause = undefined
    })
    return pause
  }

  return catchUp
}
