import {
  heldRecord,
  holdersOf,
  type QuotaGrant,
  type QuotaState,
  type QuotaStore,
  type QuotaTake,
  quotaKeptMs,
  takeOfQuota,
} from '../quotas.ts'
import type { Database } from './database.ts'
import { insertOf, type Row, selectOf, toRow, valuesOf } from './rows.ts'

interface Waiting {
  readonly take: QuotaTake
  resolve(grant: QuotaGrant): void
  reject(error: unknown): void
}

/** The maximum number of takes in a transaction, which takes SQLite a few milliseconds. */
const batchMax = 200
/** How many ended windows are removed when one is added: more than one, so that they become fewer. */
const removedPerAddition = 2

/**
 * Quotas that the processes of this machine share; a crash of the machine may lose the last second. All takes of one
 * turn of the event loop are one transaction, which costs as much as ten takes.
 */
export function createQuotaStore({ prepare, read, writeUnsynced }: Database): QuotaStore {
  const select = prepare(selectOf('quota', 'WHERE account_id = ? AND period = ?'))
  const save = prepare(
    `${insertOf('quota')}
     ON CONFLICT DO UPDATE SET granted = excluded.granted, held = excluded.held`,
  )
  const removeEnded = prepare(
    `DELETE FROM quotas WHERE (account_id, period) IN
     (SELECT account_id, period FROM quotas WHERE kept_until <= ? ORDER BY kept_until LIMIT ?)`,
  )

  function takeOne(wanted: QuotaTake): QuotaGrant {
    const { subject, window, now, endsAt } = wanted
    const row = select.get(subject, window)
    const { granted, next } = takeOfQuota(toState(row), wanted)
    const kept = { accountId: subject, window, keptUntil: endsAt + quotaKeptMs, granted: next.granted }
    save.run(toRow({ kind: 'quota', ...kept, held: heldRecord(next.holders) }))
    if (!row) removeEnded.run(now, removedPerAddition)
    return { granted, grantedToAll: next.granted }
  }

  const waiting: Waiting[] = []

  async function takeWaiting(): Promise<void> {
    const batch = waiting.splice(0, batchMax)
    if (waiting.length > 0) setImmediate(takeWaiting)
    try {
      const grants = await writeUnsynced(() => batch.map(({ take }) => takeOne(take)))
      for (const [index, grant] of grants.entries()) batch[index]?.resolve(grant)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return {
    takeQuota: (take) =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(takeWaiting)
        waiting.push({ take, resolve, reject })
      }),
    readQuota: async (subject, window) => read(() => toState(select.get(subject, window))),
  }
}

function toState(row: Row | undefined): QuotaState {
  if (!row) return { granted: 0, holders: new Map() }
  const { granted, held } = valuesOf('quota', row)
  // The cast is sound: only `heldRecord` makes it.
  return { granted, holders: holdersOf(held as ReturnType<typeof heldRecord>) }
}
