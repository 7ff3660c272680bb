import { setImmediate } from 'node:timers/promises'
import {
  type DayRange,
  isKept,
  type UsageBatch,
  type UsageCount,
  type UsageStore,
  usageDaysKept,
  usagePrincipalsMax,
} from '../usage.ts'
import type { Database } from './database.ts'
import { type Row, selectOf, valuesOf } from './rows.ts'

/** How many counts are read at once, which takes a few milliseconds, before other requests are served. */
const countsAtOnce = 2_000
const principalsAtOnce = 500
/** How many batches are remembered as added: those of an hour, at two per second. */
const batchesKept = 7_200
/** How many accounts are searched for old counts with each write, and how many counts are removed from each. */
const sweptAccounts = 20
const sweptCountsMax = 200

export function createUsageStore({ prepare, read, write }: Database): UsageStore {
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
    selectOf(
      'usage',
      'WHERE account_id = ? AND (day, key, route) > (?, ?, ?) AND day <= ? ORDER BY day, key, route LIMIT ?',
    ),
  )
  const selectNextAccount = prepare(
    'SELECT account_id, day FROM usage WHERE account_id > ? ORDER BY account_id, day LIMIT 1',
  )
  const removeOld = prepare(
    `DELETE FROM usage WHERE (account_id, day, key, route) IN
     (SELECT account_id, day, key, route FROM usage WHERE account_id = ? AND day < ? LIMIT ?)`,
  )
  const touchPrincipal = prepare('UPDATE usage_principals SET day = max(day, ?) WHERE id = ?')
  const insertPrincipal = prepare('INSERT INTO usage_principals (day, id) VALUES (?, ?)')
  const countPrincipals = prepare('SELECT count(*) AS count FROM usage_principals')
  const removeOldPrincipals = prepare('DELETE FROM usage_principals WHERE day < ?')
  const selectPrincipals = prepare('SELECT id FROM usage_principals WHERE id > ? ORDER BY id LIMIT ?')
  /** The last account that was searched for old counts. */
  let sweptUntil = ''

  function addBatch({ id, today, entries }: UsageBatch): void {
    if (insertBatch.run(id).changes === 0) return
    forgetBatches.run(batchesKept)
    for (const { accountId, day, key, route, requests, units } of entries) {
      if (isKept(day, today)) add.run(accountId, day, key, route, requests, units)
    }
    sweep(today - usageDaysKept)
  }

  /** Removes old counts of a few accounts, continuing where it last stopped; after the last account it starts again. */
  function sweep(oldestKept: number): void {
    for (let count = 0; count < sweptAccounts; count++) {
      const next = selectNextAccount.get(sweptUntil)
      if (!next) {
        sweptUntil = ''
        return
      }
      const accountId = String(next.account_id)
      const isOld = Number(next.day) < oldestKept
      // If there are more, the next write continues with this account.
      if (isOld && Number(removeOld.run(accountId, oldestKept, sweptCountsMax).changes) === sweptCountsMax)
        return
      sweptUntil = accountId
    }
  }

  async function readUsage(accountId: string, { from, to }: DayRange): Promise<readonly UsageCount[]> {
    const found: UsageCount[] = []
    let after = { day: from, key: '', route: '' }
    for (;;) {
      const { day, key, route } = after
      const next = read(() => select.all(accountId, day, key, route, to, countsAtOnce).map(toCount))
      found.push(...next)
      const last = next.at(-1)
      if (!last || next.length < countsAtOnce) return found
      after = last
      await setImmediate()
    }
  }

  function admit(ids: readonly string[], today: number): readonly string[] {
    removeOldPrincipals.run(today - usageDaysKept)
    const added = ids.filter((id) => Number(touchPrincipal.run(today, id).changes) === 0)
    if (added.length === 0) return []
    let room = usagePrincipalsMax - Number(countPrincipals.get()?.count)
    return added.filter((id) => {
      // The entry for all others of an issuer always has room.
      const isRefused = room <= 0 && !id.endsWith(':')
      if (!isRefused) insertPrincipal.run(today, id)
      room--
      return isRefused
    })
  }

  return {
    addUsage: (batch) => write(() => addBatch(batch)),
    admitUsagePrincipals: (ids, today) => write(() => admit(ids, today)),
    listUsagePrincipals: async (cursor = '') =>
      read(() => {
        const ids = selectPrincipals.all(cursor, principalsAtOnce).map(({ id }) => String(id))
        return { ids, cursor: ids.length < principalsAtOnce ? undefined : ids.at(-1) }
      }),
    readUsage,
  }
}

function toCount(row: Row): UsageCount {
  const { accountId: _, ...count } = valuesOf('usage', row)
  return count
}
