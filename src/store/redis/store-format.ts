import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { StoreFailure } from '../store-failure.ts'
import type { CommandClient } from './command-client.ts'
import type { KeyNames } from './key-names.ts'

/** The format of the data, from 1. Raised when programs of an earlier format must not touch the data. */
export const storeFormat = 1

/**
 * Keeps this version away from data of a newer one, which it would misread or damage. Data without a format has the
 * first, and is marked with it.
 */
export interface StoreFormat {
  /**
   * Checks the ID and format read from the store; '' = none.
   * @throws GatehouseError `store-unavailable` where the data is of a newer version
   */
  observe(store: { readonly id: string; readonly format: string }): Promise<void>
  /** @throws the same, as long as the last format read was newer */
  assertSupported(): void
  /** The same as an OperatorError; undefined where the data is not newer. */
  toOperatorError(cause: unknown): OperatorError | undefined
}

const markIntervalMs = 1_000

export function createStoreFormat({ ask }: Pick<CommandClient, 'ask'>, keys: KeyNames): StoreFormat {
  let newer: string | undefined
  let markedAt = Number.NEGATIVE_INFINITY

  async function observe({ id, format }: { readonly id: string; readonly format: string }): Promise<void> {
    newer = format === '' || Number(format) <= storeFormat ? undefined : format
    assertSupported()
    // A store that was never written to has no ID, and gets both with the first write.
    if (format === '' && id !== '') await mark()
  }

  function assertSupported(): void {
    if (newer === undefined) return
    const failure = new StoreFailure('newer', `${whatIsNewer(newer)}: ${newerHint}`)
    throw new GatehouseError('store-unavailable', { cause: failure })
  }

  function toOperatorError(cause: unknown): OperatorError | undefined {
    if (newer === undefined) return undefined
    return new OperatorError(whatIsNewer(newer), {
      hint: `${newerHint.charAt(0).toUpperCase()}${newerHint.slice(1)}.`,
      cause,
    })
  }

  async function mark(): Promise<void> {
    const now = performance.now()
    if (now - markedAt < markIntervalMs) return
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
