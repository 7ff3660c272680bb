import { type PrincipalPage, usageDaysKept, usagePrincipalsMax } from '../../usage.ts'
import type { Database } from '../database.ts'

/** How many are listed at once. */
const pageSize = 500

/** The table of principals with usage. Every function is to be called within a read or a write. */
export function openUsagePrincipalTable({ prepare }: Database) {
  const touch = prepare('UPDATE usage_principals SET day = max(day, ?) WHERE id = ?')
  const insert = prepare('INSERT INTO usage_principals (day, id) VALUES (?, ?)')
  const count = prepare('SELECT count(*) AS count FROM usage_principals')
  const removeOld = prepare('DELETE FROM usage_principals WHERE day < ?')
  const select = prepare('SELECT id FROM usage_principals WHERE id > ? ORDER BY id LIMIT ?')

  function admit(ids: readonly string[], today: number): readonly string[] {
    removeOld.run(today - usageDaysKept)
    const added = ids.filter((id) => Number(touch.run(today, id).changes) === 0)
    if (added.length === 0) return []
    let room = usagePrincipalsMax - Number(count.get()?.count)
    return added.filter((id) => {
      // All others of an issuer always have room.
      const isRefused = room <= 0 && !id.endsWith(':')
      if (!isRefused) insert.run(today, id)
      room--
      return isRefused
    })
  }

  function list(cursor = ''): PrincipalPage {
    const ids = select.all(cursor, pageSize).map(({ id }) => String(id))
    return { ids, cursor: ids.length < pageSize ? undefined : ids.at(-1) }
  }

  return { admit, list }
}
