import { setImmediate } from 'node:timers/promises'
import type { Account } from './account.ts'
import type { AccountStore } from './accounts.ts'

/** Yields all accounts, newest first, in pages; other requests run in between, as SQLite is synchronous. */
export async function* accountPages(
  store: Pick<AccountStore, 'listAccounts'>,
  limit: number,
): AsyncGenerator<readonly Account[]> {
  let after: Account | undefined
  for (;;) {
    const page = await store.listAccounts({ after, limit })
    after = page.at(-1)
    // A page may be short before the end, as accounts that are deleted meanwhile are missing.
    if (!after) return
    yield page
    await setImmediate()
  }
}
