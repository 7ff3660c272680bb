import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { openSqliteStore } from '#store/sqlite/store.ts'
import { until } from '../../setup/net.ts'
import { createAccount, now, startSession, useOf } from '../samples.ts'
import { startClient, startClients } from './client-process.ts'
import { newSqlitePlace } from './place.ts'

// Processes start slowly on a busy machine.
t.setTimeout(120_000)

t.test('processes that make the database at the same moment all find it made', async (t) => {
  const clients = await Promise.all(Array.from({ length: 4 }, () => startClient(t)))
  const refused: unknown[] = []
  for (let round = 0; round < 30; round++) {
    const { path } = await newSqlitePlace(t)
    const opened = await Promise.all(clients.map((client) => client.ask({ verb: 'open', path })))
    const created = await Promise.all(clients.map((client) => client.ask({ verb: 'create', count: 2 })))
    const answers = [...opened, ...created].map((answer) => JSON.stringify(answer))
    refused.push(...answers.filter((answer) => answer.includes('error')))
    const store = openSqliteStore({ path, busyTimeoutMs: 1_000 })
    const accounts = await store.listAccounts({ after: undefined, limit: 100 })
    t.equal(accounts.length, 2 * created.length, `round ${round}`)
    await store.close()
  }
  t.strictSame(refused, [])
})

t.test('a process that opens a new database waits for another that is creating it', async (t) => {
  const { path } = await newSqlitePlace(t)
  const maker = new DatabaseSync(path)
  t.teardown(() => maker.close())
  maker.exec('BEGIN IMMEDIATE')
  const client = await startClient(t)
  const opened = client.ask({ verb: 'open', path })
  // Were this too short, the test would see less, not something else.
  const early = await Promise.race([opened, new Promise((resolve) => setTimeout(resolve, 300, 'it waits'))])
  t.equal(early, 'it waits')
  maker.exec('ROLLBACK')
  t.strictSame(await opened, { opened: path })
})

t.test('one process reads and writes while another writes, and both see all of it', async (t) => {
  const place = await newSqlitePlace(t)
  const store = await place.open()
  const account = await createAccount(store)
  const { head } = await store.readChanges(undefined)
  const [client] = await startClients(t, 1, place.path)
  const changes = 200
  const theirs = client?.ask({ verb: 'change', id: account.id, count: changes })
  let ours = 0
  let isDone = false
  const finished = theirs?.then(() => {
    isDone = true
  })
  while (!isDone) {
    t.equal((await store.updateAccount(account.id, {})).kind, 'updated')
    ours++
    // Lets the answer of the other process in.
    await new Promise((resolve) => setImmediate(resolve))
  }
  await finished
  t.strictSame(await theirs, { changed: changes })
  const written = await until('both are in the log', async () => {
    const reading = await store.readChanges(head)
    return reading.head === head + changes + ours ? reading : undefined
  })
  t.equal(written.changes?.length, changes + ours)
  t.equal((await store.findAccount(account.id))?.revision, 1 + changes + ours, 'no change is lost')
})

t.test('processes that use one refresh token at once all get the same next', async (t) => {
  const place = await newSqlitePlace(t)
  const store = await place.open()
  const clients = await startClients(t, 3, place.path)
  for (let round = 0; round < 30; round++) {
    const session = await startSession(store, await createAccount(store))
    const answers = await Promise.all(
      clients.map((client) => client.ask({ verb: 'rotate', use: useOf(session) })),
    )
    t.strictSame(answers, Array(3).fill({ generation: 2 }))
  }
})

t.test('a use of a token in one process racing a reset in another leaves no live session', async (t) => {
  const place = await newSqlitePlace(t)
  const store = await place.open()
  const [user, resetter] = await startClients(t, 2, place.path)
  for (let round = 0; round < 30; round++) {
    const account = await createAccount(store)
    const session = await startSession(store, account)
    await Promise.all([
      user?.ask({ verb: 'rotate', use: useOf(session) }),
      resetter?.ask({ verb: 'reset', id: account.id }),
    ])
    t.strictSame(await store.listSessions(account.id, { now, limit: 1_000 }), [])
    for (const generation of [1, 2]) {
      const rotation = await store.rotateSession(useOf(session, { generation }))
      t.strictSame(rotation, { kind: 'over', reason: 'revoked' })
    }
  }
})
