import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import t from 'tap'
import { createAccount, newAccount } from '../samples.ts'
import { newSqlitePlace } from './place.ts'

const mib = 1_024 * 1_024
/** As in database.ts. */
const logBytesMax = 4 * mib

/** Another process that reads, such as a backup, and stops reading on request. */
const reading = `
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(process.argv[1])
  database.exec('BEGIN; SELECT count(*) FROM accounts')
  database.prepare('SELECT count(*) FROM accounts').get()
  process.stdout.write('reading')
  process.stdin.once('data', () => {
    database.exec('COMMIT')
    process.stdout.write('ended')
    process.stdin.once('data', () => process.exit())
  })
`

t.test('the write-ahead log that grew beside a long reader is small again after it', async (t) => {
  const place = await newSqlitePlace(t)
  const store = await place.open()
  await createAccount(store)
  const logBytes = () => statSync(`${place.path}-wal`).size
  const reader = spawn(process.execPath, ['-e', reading, place.path], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => reader.kill())
  await once(reader.stdout, 'data')

  let first: string | undefined
  while (logBytes() <= 3 * logBytesMax) {
    const accounts = Array.from({ length: 1_000 }, () => newAccount())
    first ??= accounts[0]?.id
    await store.createAccounts(accounts)
  }
  for (let write = 0; write < 5; write++) await store.probeWrite()
  t.ok(logBytes() > 3 * logBytesMax, 'while it is read it stays')

  reader.stdin.write('end')
  await once(reader.stdout, 'data')
  // What an idle gateway writes, too.
  for (let write = 0; write < 2; write++) await store.probeWrite()
  t.ok(logBytes() <= logBytesMax, `${logBytes()} bytes after the second write`)
  t.ok(await store.findAccount(first ?? ''), 'all that it held is in the database')
  reader.stdin.write('exit')
  await once(reader, 'exit')
})
