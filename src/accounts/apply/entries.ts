import { setImmediate } from 'node:timers/promises'
import type { Account } from '#store/accounts.ts'
import type { DesiredAccount } from './state-schema.ts'

/** An entry of the file, and its account. */
export interface Entry {
  readonly desired: DesiredAccount
  /** undefined = it does not exist yet. */
  readonly account: Account | undefined
}

/** Number of look-ups at a time; other work runs in between, as SQLite is synchronous. */
export const batchSize = 200

export async function inBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let start = 0; start < items.length; start += batchSize) {
    results.push(...(await Promise.all(items.slice(start, start + batchSize).map(work))))
    await setImmediate()
  }
  return results
}
