import { randomUUID } from 'node:crypto'
import { dayOf } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import type { UsageBatch, UsageEntry } from '#store/usage.ts'
import { now } from './samples.ts'

/** Not made up: Redis lets counts expire by its own clock. */
export const today = dayOf(now)

export function newUsage(
  { id: accountId }: Pick<Account, 'id'>,
  changes: Partial<UsageEntry> = {},
): UsageEntry {
  return { accountId, day: today, key: 'default', route: 'orders', requests: 1, units: 1, ...changes }
}

export function newUsageBatch(
  entries: readonly UsageEntry[],
  changes: Partial<Omit<UsageBatch, 'entries'>> = {},
): UsageBatch {
  return { id: randomUUID(), today, entries, ...changes }
}
