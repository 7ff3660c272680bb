import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { openSqliteStore } from '#store/sqlite/store.ts'
import type { Store } from '#store/store.ts'
import type { Place } from '../place.ts'

export interface SqlitePlace extends Place {
  readonly path: string
}

/** A database file in a folder of its own, gone with the test. */
export async function newSqlitePlace(t: Test): Promise<SqlitePlace> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-sqlite-'))
  const path = join(dir, 'gatehouse.db')
  const opened: Store[] = []
  t.teardown(async () => {
    // Some are closed by their tests: a second close is theirs to refuse.
    for (const store of opened) await store.close().catch(() => {})
    rmSync(dir, { recursive: true, force: true })
  })
  return {
    path,
    open: async () => {
      const store = openSqliteStore({ path, busyTimeoutMs: 2_000 })
      opened.push(store)
      return store
    },
  }
}
