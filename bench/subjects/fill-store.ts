import { join } from 'node:path'
import type { withOperator as WithOperator } from '#cli/operator.ts'
import type { Account } from '#store/accounts.ts'
import type { Store } from '#store/store.ts'
import { newSession } from '../../test/store/samples.ts'
import type { DistinctCaller } from '../load/distinct-requests.ts'

/** How many accounts are created in one step. */
const batch = 1_000

/** Creates accounts, with a session each, in the store of a config. */
export async function fillStore(
  checkout: string,
  file: string,
  count: number,
): Promise<readonly DistinctCaller[]> {
  // The cast is sound: a checkout of this project exports it there.
  const { withOperator } = (await import(join(checkout, 'src/cli/operator.ts'))) as {
    readonly withOperator: typeof WithOperator
  }
  return withOperator({ file, env: {} }, async ({ accounts, store }) => {
    const callers: DistinctCaller[] = []
    const run = Date.now()
    while (callers.length < count) {
      const inputs = Array.from({ length: Math.min(batch, count - callers.length) }, (_, index) => ({
        // The store may have those of an earlier run.
        email: `user${callers.length + index}-${run}@example.com`,
        firstName: 'Ada',
        lastName: 'Lovelace',
        role: 'User',
        isVerified: true,
      }))
      const created = await accounts.createAll(inputs)
      callers.push(
        ...(await Promise.all(
          created.map(({ account, secretKey }) => withSession(store, account.id, secretKey)),
        )),
      )
    }
    return callers
  })
}

async function withSession(store: Store, accountId: string, secretKey: string): Promise<DistinctCaller> {
  // The cast is sound: it was just created.
  const account = (await store.findAccount(accountId)) as Account
  const session = newSession(account)
  await store.startSession(session, account)
  return { accountId, sessionId: session.id, secretKey }
}
