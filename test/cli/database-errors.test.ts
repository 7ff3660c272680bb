import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { createWorkspace } from './workspace.ts'

const { folder, run } = createWorkspace(
  t,
  {},
  { 'a-folder/a-file': 'a file\n', 'words.db': 'no database, '.repeat(500) },
)

function makeDatabase(name: string, sql: string): string {
  const path = join(folder, name)
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
  return path
}

const withDatabase = (path: string) => run('accounts', 'list', '--set', `store.sqlite.path=${path}`)

const paths: readonly (readonly [what: string, path: string, reason: RegExp])[] = [
  ['a folder', 'a-folder', /it is a folder/],
  ['a file that is not a database', 'words.db', /file is not a database/],
  ['a path below a file', 'a-folder/a-file/gatehouse.db', /not a directory/],
  [
    'a path in a folder that cannot be created',
    '/sys/gatehouse/gatehouse.db',
    /not permitted|denied|read-only|no such file/,
  ],
  // Where Linux reports "no such file" for every new folder, even if its parent exists.
  [
    'a path in a folder that cannot exist',
    '/proc/gatehouse/gatehouse.db',
    /not permitted|denied|read-only|no such file/,
  ],
]

for (const [what, path, reason] of paths) {
  t.test(`a database that cannot be opened is reported with path, reason and option: ${what}`, async (t) => {
    const { status, stdout, stderr } = await withDatabase(path)
    t.equal(status, 1)
    t.equal(stdout, '')
    t.match(
      stderr,
      `gatehouse: cannot open the database ${path.startsWith('/') ? path : join(folder, path)}: `,
    )
    t.match(stderr, reason)
    t.match(stderr, 'store.sqlite.path')
  })
}

t.test('a file that is not a database is left as it is', async (t) => {
  t.match(readFileSync(join(folder, 'words.db'), 'utf8'), /^(no database, ){500}$/)
})

t.test('a corrupt database is reported and left as it is', async (t) => {
  await run('accounts', 'create', '--email', 'ada@example.com', '--set', 'store.sqlite.path=damaged.db')
  const path = join(folder, 'damaged.db')
  const bytes = readFileSync(path)
  // All but the first page, which has the header and the schema.
  writeFileSync(path, Buffer.concat([bytes.subarray(0, 4_096), Buffer.alloc(bytes.length - 4_096, 0xff)]))
  const { status, stdout, stderr } = await withDatabase('damaged.db')
  t.equal(status, 1)
  t.equal(stdout, '')
  t.match(stderr, /malformed|damaged|not a database/)
  t.equal(statSync(path).size, bytes.length)
})

t.test('a database of a newer version is not touched', async (t) => {
  const path = makeDatabase('newer.db', 'PRAGMA user_version = 99; CREATE TABLE accounts (id)')
  const { status, stderr } = await withDatabase('newer.db')
  t.equal(status, 1)
  t.match(stderr, `gatehouse: the database ${path} was created by a newer version of Gatehouse\n`)
  t.strictSame(tablesOf(path), ['accounts'])
})

t.test('a database of another program is refused', async (t) => {
  for (const table of ['accounts', 'songs']) {
    const path = makeDatabase(`${table}.db`, `CREATE TABLE ${table} (id)`)
    const { status, stderr } = await withDatabase(`${table}.db`)
    t.equal(status, 1, table)
    t.match(stderr, path)
    t.strictSame(tablesOf(path), [table])
  }
})

t.test('a locked database is reported as busy, not as broken', async (t) => {
  await withDatabase('busy.db')
  const database = new DatabaseSync(join(folder, 'busy.db'))
  t.teardown(() => database.close())
  database.exec('BEGIN EXCLUSIVE')
  // The gateway itself waits for a shorter time than a command.
  const { status, stderr } = await run('serve', '--set', 'store.sqlite.path=busy.db')
  t.equal(status, 1)
  t.match(stderr, /database is locked/)
  t.notMatch(stderr, /must be writable/, 'the hint fits the reason')
})

t.test('database and sealing key are created on first use, readable by the owner alone', async (t) => {
  const { folder, run } = createWorkspace(t)
  t.match(await run('accounts', 'create', '--email', 'ada@example.com'), { status: 0 })
  const modeOf = (name: string) => (statSync(join(folder, name)).mode & 0o777).toString(8)
  t.equal(modeOf('data'), '700')
  t.equal(modeOf('data/sealing.key'), '600')
  // The folder may have existed before, with a wider mode.
  t.equal(modeOf('data/gatehouse.db'), '600')
})

function tablesOf(path: string): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  database.close()
  return rows.map(({ name }) => name)
}

t.test(
  'an account whose set-up link cannot be made keeps its keys, and the command says what failed',
  async (t) => {
    const path = join(folder, 'no-links.db')
    await run('accounts', 'create', '--email', 'first@example.com', '--set', `store.sqlite.path=${path}`)
    const database = new DatabaseSync(path)
    t.teardown(() => database.close())
    database.exec(`CREATE TRIGGER refuse_links BEFORE INSERT ON audit WHEN NEW.entry LIKE '%setup-link-created%'
    BEGIN SELECT RAISE(ABORT, 'no links today'); END`)
    const words = ['--email', 'second@example.com', '--json', '--set', `store.sqlite.path=${path}`]
    const { status, stdout, stderr } = await run('accounts', 'create', ...words)
    t.equal(status, 1)
    t.match(stderr, /no links today/)
    const created = JSON.parse(stdout) as Readonly<Record<string, unknown>>
    t.match(created, { email: 'second@example.com', secretKey: /^gate_sk_/, apiKey: /^gate_ak_/ })
    t.notOk('setupUrl' in created)
  },
)
