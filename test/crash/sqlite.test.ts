import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { surviveKills } from './survive-kills.ts'

t.test('on SQLite a kill at any moment loses no answered write and leaves none half-done', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-crash-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, 'gatehouse.db')
  await surviveKills(t, { store: { driver: 'sqlite', path }, rounds: 25, withinMs: 14_000 })
  const database = new DatabaseSync(path)
  t.teardown(() => database.close())
  t.strictSame(
    database
      .prepare('PRAGMA integrity_check')
      .all()
      .map(({ integrity_check }) => integrity_check),
    ['ok'],
  )
})
