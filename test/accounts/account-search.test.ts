import t from 'tap'
import { type AccountQueryField, parseAccountQuery } from '#accounts/account-query.ts'
import { createAccountSearch } from '#accounts/account-search.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createAccount, newAccount } from '../store/samples.ts'
import { newSqlitePlace } from '../store/sqlite/place.ts'

function queryOf(texts: Partial<Readonly<Record<AccountQueryField, string>>>) {
  return parseAccountQuery((field) => texts[field])
}

const store = await (await newSqlitePlace(t)).open()
for (const [email, firstName] of [
  ['nevada@example.com', ''],
  ['ada@example.com', 'Ada'],
  ['canada@example.com', 'Ada Nada'],
  ['bob@example.com', 'Bob'],
  ['x.adapter@example.com', ''],
  ['granada@example.com', 'Gran'],
] as const) {
  await createAccount(store, { email, firstName, lastName: '', role: firstName === '' ? 'Service' : 'User' })
}
const search = createAccountSearch(store)

async function found(texts: Parameters<typeof queryOf>[0], limit: number): Promise<readonly string[]> {
  const query = queryOf(texts)
  const emails: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await search.page({ query, cursor, limit })
    if (page.items.length > limit) throw new Error('more than a page')
    emails.push(...page.items.map(({ email }) => email))
    if (page.nextCursor === undefined) return emails
    cursor = page.nextCursor
  }
}

t.test('what begins with the words comes first, then what has them anywhere, each once', async (t) => {
  for (const limit of [1, 2, 3, 5, 100]) {
    const emails = await found({ q: 'ADA' }, limit)
    t.strictSame(
      emails.slice(0, 3).toSorted(),
      ['ada@example.com', 'canada@example.com', 'x.adapter@example.com'],
      `pages of ${limit}`,
    )
    t.strictSame(emails.slice(3).toSorted(), ['granada@example.com', 'nevada@example.com'])
    t.strictSame(await found({ q: 'ada', role: 'Service' }, limit), [
      'x.adapter@example.com',
      'nevada@example.com',
    ])
    t.strictSame(await found({ q: 'ada', sort: 'email' }, limit), [
      'ada@example.com',
      'canada@example.com',
      'granada@example.com',
      'nevada@example.com',
      'x.adapter@example.com',
    ])
  }
  t.strictSame(await found({ q: 'ada nada' }, 10), ['canada@example.com', 'granada@example.com'])
})

t.test('a page that is the last names no next one', async (t) => {
  const page = await search.page({ query: queryOf({}), cursor: undefined, limit: 6 })
  t.equal(page.items.length, 6)
  t.equal(page.nextCursor, undefined)
  const { nextCursor } = await search.page({ query: queryOf({}), cursor: undefined, limit: 5 })
  t.type(nextCursor, 'string')
})

t.test('an ID finds its account, unless a filter leaves it out', async (t) => {
  const { id } = (await store.findAccountByEmail('bob@example.com')) ?? { id: '' }
  t.strictSame(await found({ q: id }, 10), ['bob@example.com'])
  t.strictSame(await found({ q: id, role: 'Service' }, 10), [])
})

t.test('a cursor of another order, and one that is none, are refused', async (t) => {
  const byEmail = await search.page({ query: queryOf({ sort: 'email' }), cursor: undefined, limit: 1 })
  for (const cursor of [
    byEmail.nextCursor,
    'x',
    '',
    'W10',
    Buffer.from('["\\n","a"]').toString('base64url'),
  ]) {
    await t.rejects(
      search.page({ query: queryOf({ sort: 'oldest', q: 'a' }), cursor: cursor ?? '', limit: 1 }),
      {
        code: 'request-invalid',
      },
      `cursor ${cursor}`,
    )
  }
})

t.test('every wrong field of a query is named at once', async (t) => {
  const given = {
    q: 'x'.repeat(201),
    disabled: 'yes',
    activeSince: '2026-02-30',
    inactiveSince: 'x',
    sort: 'age',
  }
  const error = await Promise.resolve()
    .then(() => queryOf(given))
    .catch((cause: unknown) => cause)
  if (!(error instanceof GatehouseError)) throw new Error('was accepted')
  t.strictSame(error.errors?.map(({ field }) => field).toSorted(), Object.keys(given).toSorted())
  t.strictSame(queryOf({ plan: 'none', disabled: 'false', q: ' ' }), {
    text: '',
    filter: {
      words: [],
      role: undefined,
      plan: null,
      isDisabled: false,
      activeSince: undefined,
      inactiveSince: undefined,
    },
    order: undefined,
  })
})

t.test('all pages of many accounts are read, however few match', async (t) => {
  await store.createAccounts(
    Array.from({ length: 400 }, (_, index) => newAccount({ email: `many${index}@mass.test`, role: 'Mass' })),
  )
  let count = 0
  for await (const page of search.all(queryOf({ role: 'Mass' }))) count += page.length
  t.equal(count, 400)
  t.equal(await search.count(), 406)
})
