import { type QuotaGrant, type QuotaState, type QuotaTake, quotaKeptMs, takeOfQuota } from '../../quotas.ts'
import type { Database } from '../database.ts'

/** How many ended windows are removed when one is added: more than that one. */
const removedPerAddition = 2

/** The table of quotas. Every function is to be called within a read or write. */
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
    const row = select.get(accountId, window)
    const { granted, next } = takeOfQuota(toState(row), wanted)
    save.run(accountId, window, endsAt + quotaKeptMs, next.granted, toHeld(next))
    if (!row) removeEnded.run(now, removedPerAddition)
    return { granted }
  }

  function read(accountId: string, window: string): QuotaState {
    return toState(select.get(accountId, window))
  }

  return { take, read }
}

/** Of each process, by its ID: reserved, sequence, granted, askedAt. */
type Held = Readonly<Record<string, readonly [number, number, number, number]>>

function toHeld({ holders }: QuotaState): string {
  const held: Held = Object.fromEntries(
    [...holders].map(([holder, { reserved, sequence, granted, askedAt }]) => [
      holder,
      [reserved, sequence, granted, askedAt],
    ]),
  )
  return JSON.stringify(held)
}

function toState(row: Record<string, unknown> | undefined): QuotaState {
  if (!row) return { granted: 0, holders: new Map() }
  // The cast is sound: only `take` writes it.
  const held = JSON.parse(String(row.held)) as Held
  const holders = Object.entries(held).map(
    ([holder, [reserved, sequence, granted, askedAt]]) =>
      [holder, { reserved, sequence, granted, askedAt }] as const,
  )
  return { granted: Number(row.granted), holders: new Map(holders) }
}
