import { GatehouseError } from '../../errors.ts'
import { StoreFailure } from '../store-failure.ts'
import type { Keys } from './keys.ts'
import type { Link } from './link.ts'

/**
 * Tells an empty store from one that has lost its data (a flush, a wrong restore). What is written first gives a
 * store its ID; whoever has seen one takes no other for it until it is started anew, and says so in the
 * emptied Redis, so that nobody who starts meanwhile begins a new store there.
 */
export interface StoreId {
  /**
   * To be asked before "not there" is answered or made use of.
   * @throws GatehouseError `store-unavailable` where the store is lost
   */
  confirmAbsence(): Promise<undefined>
  /** Takes note of the ID the store has now; '' = none. @throws as `confirmAbsence` does */
  see(id: string): Promise<void>
}

/** How long a loss is told to others after it was seen last, and how often it is told at most. */
const toldForMs = 5_000
const tellEveryMs = 1_000

export function createStoreId({ ask }: Pick<Link, 'ask'>, keys: Keys): StoreId {
  /** The ID that was seen first. */
  let knownId: string | undefined
  let toldAt = Number.NEGATIVE_INFINITY

  async function confirmAbsence(): Promise<undefined> {
    const id = await ask((client) => client.get(keys.storeId))
    if (id === null) return confirmEmpty()
    if (knownId !== undefined && id !== knownId) throw lost('another')
    return undefined
  }

  async function see(id: string): Promise<void> {
    if (id === '') return confirmEmpty()
    knownId ??= id
    if (id !== knownId) throw lost('another')
  }

  /** There is no ID: nothing was ever written, or all is gone. */
  async function confirmEmpty(): Promise<undefined> {
    if (knownId !== undefined) {
      await tell(knownId)
      throw lost('empty')
    }
    if ((await ask((client) => client.get(keys.lostId))) !== null) throw lost('empty')
    return undefined
  }

  async function tell(id: string): Promise<void> {
    const now = performance.now()
    if (now - toldAt < tellEveryMs) return
    toldAt = now
    // Who cannot be told is no reason to say anything else: a Redis that takes no writes begins no new store.
    await ask((client) => client.set(keys.lostId, id, 'PX', toldForMs)).catch(() => {})
  }

  return { confirmAbsence, see }
}

const losses = {
  empty:
    'Redis has lost its data: restore them; or, to begin with an empty store, stop all gateways, wait 10 s and start them again',
  another:
    'Redis has the data of another store: restore those that were there; or, to go on with these, restart all gateways',
} as const

function lost(how: keyof typeof losses): GatehouseError {
  return new GatehouseError('store-unavailable', { cause: new StoreFailure('lost', losses[how]) })
}
