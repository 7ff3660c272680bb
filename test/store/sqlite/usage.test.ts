import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { compareUsage, usageBatchMax, usageDaysKept } from '#store/usage.ts'
import { createAccount } from '../samples.ts'
import { newUsage, newUsageBatch, today } from '../usage-samples.ts'
import { newSqlitePlace } from './place.ts'

t.test('usage that is no longer kept is removed with later writes, a part with each', async (t) => {
  const { path, open } = await newSqlitePlace(t)
  const store = await open()
  const accounts = []
  for (let count = 0; count < 50; count++) accounts.push(await createAccount(store))
  const [ada] = accounts
  if (!ada) throw new Error('no account')
  for (const account of accounts) {
    await store.addUsage(newUsageBatch([newUsage(account), newUsage(account, { day: today + 1 })]))
  }
  // More of one account than one write removes.
  for (const route of ['a', 'b', 'c']) {
    await store.addUsage(
      newUsageBatch(Array.from({ length: 200 }, (_, index) => newUsage(ada, { route: `${route}${index}` }))),
    )
  }
  const database = new DatabaseSync(path, { readOnly: true })
  t.teardown(() => database.close())
  const rows = () => Number(database.prepare('SELECT count(*) AS rows FROM usage').get()?.rows)
  const all = 2 * 50 + 600
  const passDay = async (day: number) => {
    let [before, writes] = [rows(), 0]
    for (let unchanged = 0; unchanged < 10; writes++) {
      await store.addUsage(newUsageBatch([], { today: day }))
      const removed = before - rows()
      t.ok(removed <= 20 * 200, 'a write removes no more than its part')
      unchanged = removed === 0 ? unchanged + 1 : 0
      before -= removed
    }
    return writes
  }
  await passDay(today + usageDaysKept)
  t.equal(rows(), all, 'the last day that is kept')
  const writes = await passDay(today + usageDaysKept + 1)
  t.ok(writes > 5, `${writes} writes`)
  t.equal(rows(), 50, 'a day later only the next day is left')
  await passDay(today + usageDaysKept + 2)
  t.equal(rows(), 0)
})

t.test('the batches that are remembered are bounded', async (t) => {
  const { path, open } = await newSqlitePlace(t)
  const store = await open()
  await store.addUsage(newUsageBatch([]))
  const database = new DatabaseSync(path)
  t.teardown(() => database.close())
  database.exec(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
     INSERT INTO usage_batches (id) SELECT 'b' || i FROM n`,
  )
  await store.addUsage(newUsageBatch([]))
  t.equal(database.prepare('SELECT count(*) AS rows FROM usage_batches').get()?.rows, 7_200)
})

t.test('usage of more counts than are read at once is read whole and in order', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const [ada, bob] = [await createAccount(store), await createAccount(store)]
  const entries = Array.from({ length: 4_000 }, (_, index) =>
    newUsage(ada, { day: today - (index % 3), key: `${index % 7}`, route: `route ${index}` }),
  )
  for (let from = 0; from < entries.length; from += usageBatchMax)
    await store.addUsage(newUsageBatch([...entries.slice(from, from + usageBatchMax)]))
  await store.addUsage(newUsageBatch([newUsage(bob)]))
  const found = await store.readUsage(ada.id, { from: today - 2, to: today })
  t.equal(found.length, 4_000)
  t.strictSame(found, found.toSorted(compareUsage))
  t.equal((await store.readUsage(ada.id, { from: today - 1, to: today - 1 })).length, 1_333)
  t.equal((await store.readUsage(bob.id, { from: today, to: today })).length, 1)
})
