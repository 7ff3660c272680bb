import { copyFileSync, mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { until } from '../setup/net.ts'
import { ask } from './support/ask.ts'

/** A gateway on a SQLite file, with a caller that it knows. */
async function start(t: Test) {
  const gateway = await startBoth(t)
  const account = await gateway.createAccount()
  const folder = dirname(gateway.configFile)
  const aside = join(folder, 'aside')
  mkdirSync(aside)
  const files = ['gatehouse.db', 'gatehouse.db-wal', 'gatehouse.db-shm']
  const pair = { SecretKey: account.secretKey, APIKey: account.apiKey }
  const call = async () => (await ask(t, gateway.url, 'GET /key', [`SecretKey: ${account.secretKey}`])).status
  const write = async () => (await gateway.post('/api/v1/accounts/access-token', pair)).status
  t.equal(await call(), 200)
  t.equal(await write(), 200)
  const isUp = async () => (await (await fetch(`${gateway.opsUrl}/readyz`)).text()) === '{"status":"ok"}\n'
  return {
    gateway,
    database: join(folder, 'gatehouse.db'),
    call,
    write,
    isUp,
    moveAway: () => {
      for (const file of files) renameSync(join(folder, file), join(aside, file))
    },
    moveBack: () => {
      for (const file of files) renameSync(join(aside, file), join(folder, file))
    },
    logged: () =>
      gateway.logLines.filter(
        (line) => line.includes('"level":"error"') && line.includes('while the gateway runs'),
      ),
    untilDown: () => until('it is noticed', async () => !(await isUp()) || undefined),
  }
}

t.test('no write to a removed database file is acknowledged; moved back, it is used again', async (t) => {
  const { call, write, isUp, moveAway, moveBack, logged, untilDown, gateway } = await start(t)
  moveAway()
  t.equal(await write(), 503, 'at once, before any other look')
  await untilDown()
  for (let turn = 0; turn < 5; turn++) t.equal(await write(), 503)
  t.equal(await call(), 200, 'a known caller goes on')
  t.equal((await ask(t, gateway.url, 'GET /key', ['SecretKey: gsk_x'])).status, 401)
  t.equal(logged().length, 1, 'logged once')
  t.match(JSON.parse(logged()[0] ?? ''), {
    level: 'error',
    msg: /gatehouse\.db was deleted .*restore the file; .*restart/,
  })
  moveBack()
  await until('it is back', async () => (await isUp()) || undefined)
  t.equal(await write(), 200)
  t.equal(gateway.logLines.filter((line) => line.includes('store reachable again')).length, 1)
})

t.test('a database file replaced by another is noticed before anything is written', async (t) => {
  const { write, moveAway, logged, untilDown, database, gateway } = await start(t)
  const { gateway: other, database: otherDatabase } = await start(t)
  await other.shutDown()
  moveAway()
  copyFileSync(otherDatabase, database)
  t.equal(await write(), 503)
  await untilDown()
  t.equal(logged().length, 1)
  t.match(logged()[0], /gatehouse\.db was replaced while/)
  const foreign = new DatabaseSync(database)
  const { sessions } = foreign.prepare('SELECT count(*) AS sessions FROM sessions').get() ?? {}
  t.equal(sessions, 1, 'the other store stays as it was')
  foreign.close()
  t.equal((await gateway.post('/api/v1/accounts/refresh-token', { token: 'x' })).status, 401)
})

t.test('the removal of the write-ahead log alone is noticed', async (t) => {
  const { write, moveAway, moveBack, untilDown, database, isUp } = await start(t)
  moveAway()
  moveBack()
  t.equal(await write(), 200)
  renameSync(`${database}-wal`, `${database}-elsewhere`)
  t.equal(await write(), 503)
  await untilDown()
  renameSync(`${database}-elsewhere`, `${database}-wal`)
  await until('it is back', async () => (await isUp()) || undefined)
})

t.test('a database overwritten with the data of another store is not taken for the same', async (t) => {
  const { write, untilDown, database, gateway } = await start(t)
  const other = new DatabaseSync(database)
  const known = other.prepare('SELECT id FROM store').get()?.id
  other.exec("UPDATE store SET id = 'another'")
  await untilDown()
  t.match(gateway.logLines.join(''), /the database has the data of another store/)
  other.prepare('UPDATE store SET id = ?').run(String(known))
  other.close()
  await until('it is back', async () => (await write()) === 200 || undefined)
})
