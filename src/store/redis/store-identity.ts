import { OperatorError } from '#platform/errors/operator-error.ts'
import { storeUnavailable } from '../store-health.ts'
import type { CommandClient } from './command-client.ts'
import type { KeyNames } from './data-layout.ts'

/** The format of the data, from 1. Raised when programs of an earlier format must not touch the data. */
export const storeFormat = 1

/** TTL of the data-loss mark, since the loss was last seen, and how often it is written at most. */
const lossMarkTtlMs = 5_000
const lossMarkIntervalMs = 1_000

/** After how long a write of the format that failed is tried again. */
const formatMarkIntervalMs = 1_000

/**
 * Distinguishes an empty store from one that has lost its data (a flush, a wrong restore). The first write gives a
 * store its ID. A process that has seen an ID accepts no other until it is restarted, and leaves a mark in an emptied
 * Redis, so that no process that starts in the meantime creates a new store there.
 */
export function createStoreId({ ask }: Pick<CommandClient, 'ask'>, keys: KeyNames) {
  /** The ID that was seen first. */
  let knownId: string | undefined
  let markedAt = Number.NEGATIVE_INFINITY

  /**
   * To be called before "not found" is returned or acted upon.
   * @throws GatehouseError `store-unavailable` if the store has lost its data
   */
  async function confirmAbsence(): Promise<undefined> {
    const id = await ask((client) => client.get(keys.storeId))
    if (id === null) return confirmEmpty()
    if (knownId !== undefined && id !== knownId) throw storeUnavailable('lost', losses.another)
    return undefined
  }

  /** Checks the current ID of the store; '' = none. @throws as `confirmAbsence` does */
  async function observe(id: string): Promise<void> {
    if (id === '') return confirmEmpty()
    knownId ??= id
    if (id !== knownId) throw storeUnavailable('lost', losses.another)
  }

  /** There is no ID: nothing was ever written, or all data is lost, or is being restored. */
  async function confirmEmpty(): Promise<undefined> {
    if ((await ask((client) => client.get(keys.restore))) !== null)
      throw storeUnavailable('lost', losses.restoring)
    if (knownId !== undefined) {
      await markLoss(knownId)
      throw storeUnavailable('lost', losses.empty)
    }
    if ((await ask((client) => client.get(keys.lostId))) !== null)
      throw storeUnavailable('lost', losses.empty)
    return undefined
  }

  async function markLoss(id: string): Promise<void> {
    const now = performance.now()
    if (now - markedAt < lossMarkIntervalMs) return
    markedAt = now
    // A failure does not matter, as no new store can be created in a Redis that rejects writes.
    await ask((client) => client.set(keys.lostId, id, 'PX', lossMarkTtlMs)).catch(() => {})
  }

  return { confirmAbsence, observe }
}

const losses = {
  empty:
    'Redis has lost its data: restore it; or, to start with an empty store, stop all gateways, wait 10 s and start them again',
  restoring:
    'a restore into this Redis has not finished, and its data is not used; if it was interrupted, run again: gatehouse store restore',
  another:
    'Redis has the data of another store: restore the previous data; or, to use this data, restart all gateways',
} as const

/**
 * Keeps this version away from data of a newer one, which it would misread or damage. Data without a format has the
 * first one, and is marked with it.
 */
export function createStoreFormat({ ask }: Pick<CommandClient, 'ask'>, keys: KeyNames) {
  let newer: string | undefined
  let markedAt = Number.NEGATIVE_INFINITY

  /**
   * Checks the ID and format read from the store; '' = none.
   * @throws GatehouseError `store-unavailable` if the data is of a newer version
   */
  async function observe({ id, format }: { readonly id: string; readonly format: string }): Promise<void> {
    newer = format === '' || Number(format) <= storeFormat ? undefined : format
    assertSupported()
    // A store that was never written to has no ID, and gets both with the first write.
    if (format === '' && id !== '') await mark()
  }

  /** @throws as `observe`, as long as the last format that was read is newer */
  function assertSupported(): void {
    if (newer === undefined) return
    throw storeUnavailable('newer', `${whatIsNewer(newer)}: ${newerHint}`)
  }

  /** The problem as an OperatorError; undefined if the data is not newer. */
  function toOperatorError(cause: unknown): OperatorError | undefined {
    if (newer === undefined) return undefined
    return new OperatorError(whatIsNewer(newer), {
      hint: `${newerHint.charAt(0).toUpperCase()}${newerHint.slice(1)}.`,
      cause,
    })
  }

  async function mark(): Promise<void> {
    const now = performance.now()
    if (now - markedAt < formatMarkIntervalMs) return
    markedAt = now
    // A failure does not matter: a Redis that rejects writes is marked later.
    await ask((client) => client.set(keys.format, storeFormat, 'NX')).catch(() => {})
  }

  return { observe, assertSupported, toOperatorError }
}

function whatIsNewer(format: string): string {
  return `the data in Redis was written by a newer version of Gatehouse (format ${format.slice(0, 20)}; this version supports up to ${storeFormat})`
}

const newerHint =
  'run that version; or restore a backup from before the upgrade; or choose another store.redis.keyPrefix'
