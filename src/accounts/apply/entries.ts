import { setImmediate } from 'node:timers/promises'
import type { Account } from '#store/account.ts'
import type { DesiredAccount } from './desired.ts'

/** An entry of the file, and the account that it is about. */
export interface Entry {
  readonly desired: DesiredAccount
  /** undefined = it is to be created. */
  readonly account: Account | undefined
}

/** How much is looked up at a time, with other work in between: SQLite is synchronous. */
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
