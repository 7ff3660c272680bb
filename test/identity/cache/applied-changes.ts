import type { Test } from 'tap'
import { openInvalidation } from '#identity/cache/invalidation.ts'
import { StoreConnectionState } from '#identity/cache/store-connection.ts'
import type { Change, ChangeStore } from '#store/changes.ts'

/** Longer than any test. */
export const never = 86_400_000

/**
 * Reads the change log of a store once, and at long intervals from then on.
 * @returns the changes that are applied after that
 */
export async function openAppliedChanges(
  t: Test,
  store: ChangeStore,
  idlePollMs: number,
): Promise<readonly Change[]> {
  const applied: Change[] = []
  const invalidation = openInvalidation({
    store,
    storeConnection: new StoreConnectionState(),
    pollMs: never,
    idlePollMs,
    clock: Date.now,
    apply: ({ change }) => applied.push(change),
    clear: () => {},
    onStoreAnswer: () => {},
    onDelay: () => {},
    onFault: (error) => t.error(error),
  })
  t.teardown(invalidation.close)
  await invalidation.poll()
  applied.length = 0
  return applied
}
