import t from 'tap'
import { withPrincipals } from '#identity/issuers/subjects.ts'
import { usagePrincipalsMax } from '#store/usage.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'
import { newUsage, newUsageBatch, today } from '../../store/usage-samples.ts'

t.test('principals that are one too many are counted together, by issuer', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const { addUsage } = withPrincipals(store)
  const known = { id: 'corp:known' }
  await addUsage(newUsageBatch([newUsage(known)]))
  await store.admitUsagePrincipals(
    Array.from({ length: usagePrincipalsMax - 2 }, (_, index) => `corp:${index}`),
    today,
  )
  await addUsage(
    newUsageBatch([
      newUsage(known),
      newUsage({ id: 'corp:new' }),
      newUsage({ id: 'corp:newer' }, { requests: 5 }),
      newUsage({ id: 'other:new' }),
    ]),
  )
  const requestsOf = async (id: string) =>
    (await store.readUsage(id, { from: today, to: today })).map(({ requests }) => requests)
  t.strictSame(await requestsOf('corp:known'), [2])
  t.strictSame(await requestsOf('corp:new'), [])
  t.strictSame(await requestsOf('corp:'), [6])
  t.strictSame(await requestsOf('other:'), [1])
})
