import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { createAccountSessions } from '#accounts/account-sessions.ts'
import { createAccounts } from '#accounts/accounts.ts'
import { createAuditEntryFactory } from '#accounts/audit-log.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import type { Store } from '#store/store.ts'
import { startRedis } from '../setup/redis.ts'
import type { Place } from '../store/place.ts'
import { openStoreAt, optionsOf } from '../store/redis/place.ts'
import { createAccount, hour, now, startSession } from '../store/samples.ts'
import { newSqlitePlace } from '../store/sqlite/place.ts'

const places: Record<string, (t: Test) => Promise<Place>> = {
  SQLite: newSqlitePlace,
  Redis: async (t) => {
    const server = await startRedis(t)
    return { open: () => openStoreAt(t, optionsOf(server)) }
  },
}

function sessionsOn(store: Store) {
  const by = { kind: 'system', channel: 'system' } as const
  const clock = () => now
  const accounts = createAccounts({
    store,
    sealer: createSealer(randomBytes(32)),
    reveal: false,
    planNames: [],
    prefix: 'gate',
    by,
    clock,
  })
  return createAccountSessions({
    store,
    accounts,
    entry: createAuditEntryFactory(by, clock),
    clock,
    refreshIdleMs: hour,
  })
}

for (const [name, newPlace] of Object.entries(places)) {
  t.test(`every session on ${name} is on exactly one page, even many of one moment`, async (t) => {
    const store = await (await newPlace(t)).open()
    const sessions = sessionsOn(store)
    const account = await createAccount(store)
    for (const id of ['aB', 'z', 'A', '9', 'aa', 'Zz', 'a']) await startSession(store, account, { id })
    await startSession(store, account, { id: 'older', createdAt: now - 1 })
    await startSession(store, account, { id: 'Newer', createdAt: now + 1 })
    const all = (await sessions.list(account.id)).map(({ id }) => id)
    t.strictSame(all, ['Newer', '9', 'A', 'Zz', 'a', 'aB', 'aa', 'z', 'older'])
    for (const limit of [1, 2, 8, 9]) {
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await sessions.page(account.id, { cursor, limit })
        t.ok(page.items.length > 0 && page.items.length <= limit)
        seen.push(...page.items.map(({ id }) => id))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      t.strictSame(seen, all, `${limit} a page`)
    }
  })
}

t.test('a page of sessions can begin after one that has ended', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const sessions = sessionsOn(store)
  const account = await createAccount(store)
  for (const id of ['a', 'b', 'c']) await startSession(store, account, { id })
  const { nextCursor: cursor } = await sessions.page(account.id, { cursor: undefined, limit: 1 })
  await sessions.end(account.id, 'a')
  t.match(await sessions.page(account.id, { cursor, limit: 1 }), { items: [{ id: 'b' }] })
})

t.test('a malformed session cursor is refused', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const sessions = sessionsOn(store)
  const { id } = await createAccount(store)
  const wrong = [['a', 'b'], ['1'], ['1', 2], ['1', 'a', 'b'], 'text', null]
  const cursors = wrong.map((parts) => Buffer.from(JSON.stringify(parts)).toString('base64url'))
  for (const cursor of ['', 'x', ...cursors]) {
    await t.rejects(sessions.page(id, { cursor, limit: 1 }), {
      code: 'request-invalid',
      errors: [{ field: 'cursor' }],
    })
  }
})
