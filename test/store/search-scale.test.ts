import t from 'tap'
import { parseAccountQuery } from '#accounts/account-query.ts'
import { createAccountSearch } from '#accounts/account-search.ts'
import { everyAccount } from '#store/account-search.ts'
import { openStore } from '#store/open.ts'
import { startRedis } from '../setup/redis.ts'
import { optionsOf } from './redis/place.ts'
import { newAccount, now } from './samples.ts'
import { newSqlitePlace } from './sqlite/place.ts'

// slow: many accounts
// timed: how long searches take

// A busy machine takes its time to make so many.
t.setTimeout(170_000)

const count = 100_000
const atOnce = 5_000
const lookUps = 40
/** Generous, for busy machines: alone on one these take some milliseconds at most; a scan of all takes seconds. */
const medianMsMax = 500

const names = ['Ada', 'Bob', 'Carol', 'Dan', 'Eve', 'Frank', 'Grace', 'Heidi', 'Ivan', 'Judy']

function queryOf(q: string) {
  return parseAccountQuery((field) => (field === 'q' ? q : undefined))
}

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
      const ids: string[] = []
      for (let start = 0; start < count; start += atOnce) {
        const accounts = Array.from({ length: atOnce }, (_, index) => {
          const number = start + index
          const person = { firstName: names[number % 10] ?? '', lastName: `Person${number}` }
          return newAccount({ email: `user${number}@example.com`, ...person })
        })
        await store.createAccounts(accounts)
        ids.push(...accounts.map(({ id }) => id))
      }
      const { page } = createAccountSearch(store)
      const deepId = ids.toSorted()[count * 0.1] ?? ''
      const deepTerm = { term: 'user90000@example.com', id: '' }

      const times: Record<string, number> = {}
      async function measure(name: string, found: number, lookUp: () => Promise<number>): Promise<void> {
        const taken: number[] = []
        for (let index = 0; index < lookUps; index++) {
          const began = performance.now()
          t.equal(await lookUp(), found, `${name}, page ${index}`)
          taken.push(performance.now() - began)
        }
        times[name] = taken.toSorted((a, b) => a - b)[lookUps / 2] ?? Number.NaN
        t.ok(times[name] < medianMsMax, `${name}: ${times[name]} ms`)
      }

      for (const [name, query, found] of [
        ['page', '', 50],
        ['one of all', 'person17777', 1],
        ['e-mail', 'user42424@', 1],
        ['a tenth of all', 'grace', 50],
        ['all', 'user', 50],
        ['two words', 'grace person99996', 1],
        ['a domain', 'example.com', 50],
        ['one of a domain', 'example.com person77777', 1],
      ] as const) {
        let cursor: string | undefined
        await measure(name, found, async () => {
          const { items, nextCursor } = await page({ query: queryOf(query), cursor, limit: 50 })
          // A page that is not full goes on with what has the words anywhere.
          cursor = items.length < 50 ? undefined : nextCursor
          return items.length
        })
      }
      await measure('page near the end', 51, async () => {
        return (await store.listAccounts({ after: { id: deepId, createdAt: now }, limit: 51 })).length
      })
      await measure('all, near the end', 50, async () => {
        return (await store.searchAccounts({ words: ['user'], after: deepTerm, limit: 50 })).accounts.length
      })
      for (const order of ['newest', 'email'] as const) {
        await measure(`a step that finds nothing, by ${order}`, 0, async () => {
          const filter = { ...everyAccount, words: ['nobody'], role: 'Auditor', activeSince: 1 }
          return (await store.filterAccounts({ filter, order, after: undefined, limit: 50 })).accounts.length
        })
      }
      t.comment(JSON.stringify(times))
    },
  )
}
