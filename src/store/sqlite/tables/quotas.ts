import { type QuotaGrant, type QuotaState, type QuotaTake, quotaKeptMs, takeOfQuota } from '../../quotas.ts'
import type { Database } from '../database.ts'

/** How many ended windows are removed with a write: more than the one that it may add. */
const removedPerWrite = 2

/** The table of quotas. Every function is to be called within a write. */
export function openQuotaTable({ prepare }: Database) {
  const select = prepare('SELECT granted, held FROM quotas WHERE account_id = ? AND period = ?')
  const save = prepare(
    `INSERT INTO quotas (account_id, period, kept_until, granted, held) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET granted = excluded.granted, held = excluded.held`,
  )
  const removeEnded = prepare(
    `DELETE FROM quotas WHERE (account_id, period) IN
     (SELECT account_id, period FROM quotas WHERE kept_until <= ? ORDER BY kept_until LIMIT ?)`,
  )

  function take(wanted: QuotaTake): QuotaGrant {
    const { accountId, window, now, endsAt } = wanted
    const { granted, next } = takeOfQuota(toState(select.get(accountId, window)), wanted)
    const held = JSON.stringify(Object.fromEntries(next.held))
    save.run(accountId, window, endsAt + quotaKeptMs, next.granted, held)
    removeEnded.run(now, removedPerWrite)
    return { granted }
  }

  return { take }
}

function toState(row: Record<string, unknown> | undefined): QuotaState {
  if (!row) return { granted: 0, held: new Map() }
  // The cast is sound: only `take` writes it.
  const held = JSON.parse(String(row.held)) as Readonly<Record<string, number>>
  return { granted: Number(row.granted), held: new Map(Object.entries(held)) }
}
