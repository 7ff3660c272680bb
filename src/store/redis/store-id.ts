import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { StoreFailure } from '../store-failure.ts'
import type { CommandClient } from './command-client.ts'
import type { KeyNames } from './key-names.ts'

/**
 * Tells an empty store from one that has lost its data (a flush, a wrong restore). The first write gives a store its
 * ID. A process that has seen an ID accepts no other until it is restarted, and leaves a mark in an emptied Redis, so
 * that no process that starts meanwhile creates a new store there.
 */
export interface StoreId {
  /**
   * To be called before "not found" is returned or acted upon.
   * @throws GatehouseError `store-unavailable` where the store has lost its data
   */
  confirmAbsence(): Promise<undefined>
  /** Checks the ID that the store has now; '' = none. @throws as `confirmAbsence` does */
  observe(id: string): Promise<void>
}

/** TTL of the data-loss mark, from when the loss was last seen, and how often it is written at most. */
const lossMarkTtlMs = 5_000
const lossMarkIntervalMs = 1_000

export function createStoreId({ ask }: Pick<CommandClient, 'ask'>, keys: KeyNames): StoreId {
  /** The ID that was seen first. */
  let knownId: string | undefined
  let markedAt = Number.NEGATIVE_INFINITY

  async function confirmAbsence(): Promise<undefined> {
    const id = await ask((client) => client.get(keys.storeId))
    if (id === null) return confirmEmpty()
    if (knownId !== undefined && id !== knownId) throw lostError('another')
    return undefined
  }

  async function observe(id: string): Promise<void> {
    if (id === '') return confirmEmpty()
    knownId ??= id
    if (id !== knownId) throw lostError('another')
  }

  /** There is no ID: nothing was ever written, or all data is lost, or is being restored. */
  async function confirmEmpty(): Promise<undefined> {
    if ((await ask((client) => client.get(keys.restore))) !== null) throw lostError('restoring')
    if (knownId !== undefined) {
      await markLoss(knownId)
      throw lostError('empty')
    }
    if ((await ask((client) => client.get(keys.lostId))) !== null) throw lostError('empty')
    return undefined
  }

  async function markLoss(id: string): Promise<void> {
    const now = performance.now()
    if (now - markedAt < lossMarkIntervalMs) return
    markedAt = now
    // A failure does not matter: no new store can be created in a Redis that rejects writes.
    await ask((client) => client.set(keys.lostId, id, 'PX', lossMarkTtlMs)).catch(() => {})
  }

  return { confirmAbsence, observe }
}

const losses = {
  empty:
    'Redis has lost its data: restore it; or, to start with an empty store, stop all gateways, wait 10 s and start them again',
  restoring:
    'a restore into this Redis has not finished, and nothing is used of it; if it was interrupted: gatehouse store restore',
  another:
    'Redis has the data of another store: restore the previous data; or, to use this data, restart all gateways',
} as const

function lostError(how: keyof typeof losses): GatehouseError {
  return new GatehouseError('store-unavailable', { cause: new StoreFailure('lost', losses[how]) })
}
