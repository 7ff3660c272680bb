import { createHash } from 'node:crypto'
import t from 'tap'
import { applyMax } from '#accounts/apply/desired-state.ts'
import { storeDrivers } from '../setup/gateway.ts'
import type { RawResponse } from '../setup/raw-client.ts'
import { operations, startAdminApi } from './support/admin.ts'
import { assertProblem } from './support/problem.ts'

type Texts = Readonly<Record<string, string>>

/** The lists in a response. */
function listsOf(response: RawResponse) {
  // The cast is sound: the response has been checked against its schema.
  return response.json() as unknown as {
    readonly changes: readonly Texts[]
    readonly keys: readonly Texts[]
    readonly errors: readonly Texts[]
    readonly items: readonly Texts[]
  }
}

const path = '/api/v1/admin/apply'
const sha256Of = (key: string) => createHash('sha256').update(key).digest('hex')
const plans = { pro: { quota: { limit: 1_000, per: 'day' } } }

for (const driver of storeDrivers) {
  t.test(`accounts and keys match a document, on ${driver}`, async (t) => {
    const { gateway, admin, call } = await startAdminApi(t, driver, { plans })
    const apply = (body: unknown, query = '') => call(operations.apply, path + query, body)
    // The backend is down: 502 means authenticated.
    const statusOf = async (key: unknown) =>
      (await fetch(`${gateway.url}/any`, { headers: { SecretKey: String(key) } })).status
    const state = {
      accounts: [
        {
          email: 'ada@example.com',
          plan: 'pro',
          keys: [{ name: 'ci' }, { name: 'old', digest: sha256Of('AKIA-one'), quota: null }],
        },
        { email: 'bob@example.com', role: 'User', keys: [] },
      ],
    }

    t.test('a dry run changes nothing; a run shows new keys, once, which work', async (t) => {
      const dry = listsOf(await apply(state, '?dryRun=true'))
      t.match(dry, { dryRun: true, complete: true, keys: [], failure: null })
      t.equal(dry.changes.length, 4)
      t.equal(await statusOf('AKIA-one'), 401)
      const answer = await apply(state)
      t.equal(answer.status, 200)
      t.equal(answer.headers['cache-control'], 'no-store')
      const result = listsOf(answer)
      t.match(result, { dryRun: false, complete: true, unchanged: 0, failure: null })
      t.strictSame(
        result.changes,
        dry.changes.map((change) => ({ ...change, done: true })),
      )
      t.strictSame(
        result.keys.map(({ account, name }) => `${account} ${name}`),
        ['ada@example.com default', 'bob@example.com default', 'ada@example.com ci'],
      )
      t.equal(await statusOf('AKIA-one'), 502)
      for (const { secretKey } of result.keys) t.equal(await statusOf(secretKey), 502)
      t.match((await apply(state)).json(), { complete: true, changes: [], unchanged: 2, keys: [] })
    })

    t.test('what the document no longer lists is pruned, within the limit', async (t) => {
      const less = { accounts: [{ email: 'ada@example.com', keys: [{ name: 'ci' }] }] }
      t.match((await apply(less)).json(), { changes: [] }, 'only with prune')
      const refused = await apply(less, '?prune=true&pruneMax=1')
      assertProblem(t, refused, { status: 400, code: 'request-invalid' })
      t.match(refused.json().errors, [{ field: 'pruneMax', message: /^1 of 2 accounts .* 1 of 2 keys/ }])
      const pruned = (await apply(less, '?prune=true&pruneMax=2')).json()
      t.match(pruned.changes, [
        { action: 'disable-account', account: 'bob@example.com', done: true },
        { action: 'revoke-key', account: 'ada@example.com', key: 'old', done: true },
      ])
      t.equal(await statusOf('AKIA-one'), 401)
    })

    t.test('all errors come at once, of the schema and of the values, and nothing is changed', async (t) => {
      const response = await apply({
        accounts: [
          { email: 'cyd@example.com', plan: 'gold', rolle: 'Admin' },
          { email: 'nobody', keys: [{ name: 'x', digest: 'abcd', quota: { limit: 0, per: 'week' } }, {}] },
        ],
      })
      assertProblem(t, response, { status: 400, code: 'request-invalid' })
      t.strictSame(
        listsOf(response)
          .errors.map(({ field }) => field)
          .toSorted(),
        [
          'accounts.0.plan',
          'accounts.0.rolle',
          'accounts.1.email',
          'accounts.1.keys.0.digest',
          'accounts.1.keys.0.quota.limit',
          'accounts.1.keys.0.quota.per',
          'accounts.1.keys.1.name',
        ],
      )
      const taken = await apply({
        accounts: [{ email: 'cyd@example.com', keys: [{ name: 'x', expiresAt: '2020-01-01T00:00:00Z' }] }],
      })
      t.equal(listsOf(taken).errors[0]?.field, 'accounts.0.keys.0.expiresAt')
      t.strictSame(
        await gateway.operate(({ accounts }) => accounts.findTaken(['cyd@example.com', 'nobody'])),
        [],
      )
      t.equal(listsOf(await apply({ accounts: [] }, '?pruneMax=1')).errors[0]?.field, 'pruneMax')
      t.equal(listsOf(await apply({ accounts: [] }, '?dryRun=maybe')).errors[0]?.field, 'dryRun')
    })

    t.test('an Admin cannot disable or demote their own account', async (t) => {
      const { email } = admin.account
      for (const change of [{ disabled: true }, { role: 'User' }]) {
        const response = await apply({ accounts: [{ email, ...change }, { email: 'bob@example.com' }] })
        assertProblem(t, response, { status: 409, code: 'own-account' })
      }
      t.match((await apply({ accounts: [{ email, firstName: 'Root' }] })).json(), { complete: true })
    })

    t.test('the audit log names the Admin with each change', async (t) => {
      const { items } = listsOf(await call(operations.audit, '/api/v1/admin/audit?who=ada@example.com'))
      t.strictSame(
        items.map(({ action, actor, channel }) => [action, actor, channel]),
        ['secret-key-revoked', 'secret-key-created', 'secret-key-created', 'account-created'].map(
          (action) => [action, admin.account.email, 'api'],
        ),
      )
    })
  })
}

t.test('a document has at most 1000 accounts, and 1 MiB', async (t) => {
  const { call } = await startAdminApi(t, 'sqlite')
  const apply = (body: unknown) => call(operations.apply, `${path}?dryRun=true`, body)
  const many = (count: number) => ({
    accounts: Array.from({ length: count }, (_, index) => ({ email: `user${index}@example.com` })),
  })
  t.equal(listsOf(await apply(many(applyMax.api))).changes.length, applyMax.api)
  t.match((await apply(many(applyMax.api + 1))).json(), { errors: [{ field: 'accounts' }] })
  t.match((await apply(many(20_000))).json(), { errors: [{ field: 'accounts' }] })
  const sized = (bytes: number) => {
    const filled = (length: number) => ({ accounts: [{ email: 'x'.repeat(length) }] })
    return filled(bytes - JSON.stringify(filled(0)).length)
  }
  t.match((await apply(sized(1_048_576))).json(), { code: 'request-invalid' })
  assertProblem(t, await apply(sized(1_048_577)), { status: 413, code: 'body-too-large' })
  const wrong = { accounts: Array.from({ length: 100_000 }, () => 1) }
  t.equal(listsOf(await apply(wrong)).errors.length, 100)
})
