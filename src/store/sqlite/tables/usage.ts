import { isKept, type UsageBatch, type UsageCount, usageDaysKept } from '../../usage.ts'
import type { Database } from '../database.ts'

/** How many batches are known to have been added: those of an hour, of two a second. */
const batchesKept = 7_200
/** How many accounts are looked through for old counts with a write, and how many counts are removed of each. */
const sweptAccounts = 20
const sweptCountsMax = 200

/** The tables of usage. Every function is to be called within a read or a write. */
export function openUsageTable({ prepare }: Database) {
  const insertBatch = prepare('INSERT OR IGNORE INTO usage_batches (id) VALUES (?)')
  const forgetBatches = prepare(
    'DELETE FROM usage_batches WHERE seq <= (SELECT max(seq) FROM usage_batches) - ?',
  )
  const add = prepare(
    `INSERT INTO usage (account_id, day, key, route, requests, units)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM accounts WHERE id = ?1) OR EXISTS (SELECT 1 FROM usage_principals WHERE id = ?1)
     ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, units = units + excluded.units`,
  )
  const select = prepare(
    `SELECT day, key, route, requests, units FROM usage
     WHERE account_id = ? AND (day, key, route) > (?, ?, ?) AND day <= ? ORDER BY day, key, route LIMIT ?`,
  )
  const selectNextAccount = prepare(
    'SELECT account_id, day FROM usage WHERE account_id > ? ORDER BY account_id, day LIMIT 1',
  )
  const removeOld = prepare(
    `DELETE FROM usage WHERE (account_id, day, key, route) IN
     (SELECT account_id, day, key, route FROM usage WHERE account_id = ? AND day < ? LIMIT ?)`,
  )
  const removeAll = prepare('DELETE FROM usage WHERE account_id = ?')
  /** The account up to which old counts were looked for. */
  let sweptUntil = ''

  function addBatch({ id, today, entries }: UsageBatch): void {
    if (insertBatch.run(id).changes === 0) return
    forgetBatches.run(batchesKept)
    for (const { accountId, day, key, route, requests, units } of entries) {
      if (isKept(day, today)) add.run(accountId, day, key, route, requests, units)
    }
    sweep(today - usageDaysKept)
  }

  /** Removes old counts of a few accounts, from where it ended the last time; at the end it starts again. */
  function sweep(oldestKept: number): void {
    for (let count = 0; count < sweptAccounts; count++) {
      const next = selectNextAccount.get(sweptUntil)
      if (!next) {
        sweptUntil = ''
        return
      }
      const accountId = String(next.account_id)
      const isOld = Number(next.day) < oldestKept
      // Where there are more, the next write goes on with this account.
      if (isOld && Number(removeOld.run(accountId, oldestKept, sweptCountsMax).changes) === sweptCountsMax)
        return
      sweptUntil = accountId
    }
  }

  /** The next counts of an account up to a day, in order. @param after the last one before them */
  function readNext(
    accountId: string,
    after: Pick<UsageCount, 'day' | 'key' | 'route'>,
    { to, limit }: { readonly to: number; readonly limit: number },
  ): readonly UsageCount[] {
    return select.all(accountId, after.day, after.key, after.route, to, limit).map(toCount)
  }

  return { addBatch, readNext, removeAll: (accountId: string) => void removeAll.run(accountId) }
}

function toCount(row: Record<string, unknown>): UsageCount {
  return {
    day: Number(row.day),
    key: String(row.key),
    route: String(row.route),
    requests: Number(row.requests),
    units: Number(row.units),
  }
}
