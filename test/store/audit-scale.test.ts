import t from 'tap'
import { createAuditLog } from '#accounts/audit-log.ts'
import { openStore } from '#store/open.ts'
import { startRedis } from '../setup/redis.ts'
import { newAuditEntry } from './portal-samples.ts'
import { optionsOf } from './redis/place.ts'
import { newAccount } from './samples.ts'
import { newSqlitePlace } from './sqlite/place.ts'

// slow: many entries
// timed: how long searches take

// A busy machine takes its time to write so many.
t.setTimeout(170_000)

const count = 100_000
const atOnce = 5_000
const limit = 50
const oldestAt = Date.now() - 60_000
/** Generous: alone on a machine the whole log takes some 200 ms. */
const wholeMsMax = 4_000
/** In which nobody else is served: far less than what the whole log takes. */
const pauseMsMax = 250

const { path } = await newSqlitePlace(t)
const server = await startRedis(t)

for (const options of [
  { driver: 'sqlite', path } as const,
  { driver: 'redis', ...optionsOf(server) } as const,
]) {
  t.test(`a filter finds the oldest of ${count} entries on ${options.driver}`, async (t) => {
    const store = await openStore(options, 'command')
    t.teardown(() => store.close())
    await store.ready(5_000)
    await store.appendAudit(newAuditEntry({ at: oldestAt, action: 'key-revealed' }))
    for (let start = 0; start < count; start += atOnce) {
      const entries = Array.from({ length: atOnce }, () => newAuditEntry({ action: 'account-created' }))
      await store.createAccounts([newAccount()], entries)
    }
    const { find } = createAuditLog(store)
    const filter = { action: 'key-revealed', who: undefined } as const

    let longestPauseMs = 0
    let last = performance.now()
    const timer = setInterval(() => {
      longestPauseMs = Math.max(longestPauseMs, performance.now() - last)
      last = performance.now()
    }, 1)
    const began = performance.now()
    const found = await find({ filter, before: undefined, limit })
    const tookMs = performance.now() - began
    clearInterval(timer)

    t.strictSame([found.entries.map(({ at }) => at), found.before], [[oldestAt], undefined])
    t.comment(`${tookMs} ms, others wait for ${longestPauseMs} ms at most`)
    t.ok(tookMs < wholeMsMax, `${tookMs} ms`)
    t.ok(longestPauseMs < pauseMsMax, `${longestPauseMs} ms`)

    const page = await find({
      filter: { action: 'account-created', who: undefined },
      before: undefined,
      limit,
    })
    t.equal(page.entries.length, limit)
    t.ok(page.before)
    const rest = await find({ filter, before: found.entries[0]?.position, limit })
    t.strictSame(rest, { entries: [], before: undefined })
  })
}

t.test('a page after the last is not promised', async (t) => {
  const { path: fresh } = await newSqlitePlace(t)
  const store = await openStore({ driver: 'sqlite', path: fresh }, 'command')
  t.teardown(() => store.close())
  for (let at = 0; at < limit; at++) await store.appendAudit(newAuditEntry({ at }))
  const { find } = createAuditLog(store)
  const all = { filter: { action: undefined, who: undefined }, before: undefined, limit }
  t.match(await find(all), { before: undefined, entries: { length: limit } })
  await store.appendAudit(newAuditEntry({ at: limit }))
  const first = await find(all)
  t.strictSame(
    (await find({ ...all, before: first.before })).entries.map(({ at }) => at),
    [0],
  )
})
