import t from 'tap'
import { createAccountSearch } from '../../src/accounts/account-search.ts'
import { openStore } from '../../src/store/open.ts'
import { startRedis } from '../setup/redis.ts'
import { optionsOf } from './redis/place.ts'
import { newAccount } from './samples.ts'
import { newSqlitePlace } from './sqlite/place.ts'

// A busy machine takes its time to make so many.
t.setTimeout(170_000)

const count = 20_000
const atOnce = 5_000
const lookUps = 40
/** Generous: alone on a machine these take a few milliseconds at most; a scan of all takes hundreds. */
const medianMsMax = 50

const names = ['Ada', 'Bob', 'Carol', 'Dan', 'Eve', 'Frank', 'Grace', 'Heidi', 'Ivan', 'Judy']

const { path } = await newSqlitePlace(t)
const server = await startRedis(t)

for (const options of [
  { driver: 'sqlite', path } as const,
  { driver: 'redis', ...optionsOf(server) } as const,
]) {
  t.test(
    `of ${count} accounts a page, or what a search finds, comes at once on ${options.driver}`,
    async (t) => {
      const store = await openStore(options, 'command')
      t.teardown(() => store.close())
      await store.ready(5_000)
      for (let start = 0; start < count; start += atOnce) {
        const accounts = Array.from({ length: atOnce }, (_, index) => {
          const number = start + index
          const person = { firstName: names[number % 10] ?? '', lastName: `Person${number}` }
          return newAccount({ email: `user${number}@example.com`, ...person })
        })
        await store.createAccounts(accounts)
      }
      const { page } = createAccountSearch(store)

      const times: Record<string, number> = {}
      for (const [name, query, found] of [
        ['page', '', 50],
        ['one of all', 'person17777', 1],
        ['e-mail', 'user4242@', 1],
        ['a tenth of all', 'grace', 50],
        ['all', 'user', 50],
        ['two words', 'grace person9996', 1],
      ] as const) {
        const taken: number[] = []
        let cursor: string | undefined
        for (let index = 0; index < lookUps; index++) {
          const began = performance.now()
          const result = await page({ query, cursor, limit: 50 })
          taken.push(performance.now() - began)
          t.equal(result.items.length, found, `${name}, page ${index}`)
          cursor = result.nextCursor
        }
        times[name] = taken.toSorted((a, b) => a - b)[lookUps / 2] ?? Number.NaN
        t.ok(times[name] < medianMsMax, `${name}: ${times[name]} ms`)
      }
      t.comment(JSON.stringify(times))
    },
  )
}
