import t from 'tap'
import { openStore } from '#store/open.ts'
import { startRedis } from '../setup/redis.ts'
import { optionsOf } from './redis/place.ts'
import { newAccount } from './samples.ts'
import { newSqlitePlace } from './sqlite/place.ts'

// slow: a hundred thousand accounts

// A busy machine takes its time for so many.
t.setTimeout(120_000)

/** More than what a function can take as arguments: an import is one call, however large. */
const count = 40_000

const { path } = await newSqlitePlace(t)
const server = await startRedis(t)

for (const options of [
  { driver: 'sqlite', path } as const,
  { driver: 'redis', ...optionsOf(server) } as const,
]) {
  t.test(`an import of ${count} accounts is one step on ${options.driver}`, async (t) => {
    const store = await openStore(options, 'command')
    t.teardown(() => store.close())
    await store.ready(5_000)
    const accounts = Array.from({ length: count }, () => newAccount())
    t.strictSame(await store.createAccounts(accounts), { kind: 'created' })
    const last = accounts.at(-1)
    t.equal((await store.findAccountByEmail(last?.email ?? ''))?.id, last?.id)
  })
}
