import t from 'tap'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { digestOf, parseKey } from '#platform/secrets/keys.ts'
import { namedKeyOf } from '#store/secret-keys.ts'
import { listAudit } from '../../store/portal-samples.ts'
import { startSession } from '../../store/samples.ts'
import { openApply, placesOf, refusalOf, sha256Of } from './support.ts'

const ada = {
  email: 'ada@example.com',
  firstName: 'Ada',
  role: 'Admin',
  plan: 'pro',
  keys: [
    { name: 'ci', scopes: ['orders:read', 'orders:write'], quota: { limit: 100, per: 'day' } },
    { name: 'old', digest: sha256Of('AKIA-one'), expiresAt: '2024-01-31T00:00:00Z' },
  ],
} as const
const bob = { email: 'bob@example.com', disabled: true }

for (const driver of Object.keys(placesOf) as (keyof typeof placesOf)[]) {
  t.test(`a file on ${driver}`, async (t) => {
    const { run, store, accounts } = await openApply(t, driver)
    const state = { accounts: [ada, bob] }

    t.test('a dry run changes nothing, and says what the run then does', async (t) => {
      const dry = await run(state, { isDryRun: true })
      t.strictSame(await store.listAccounts({ after: undefined, limit: 10 }), [])
      t.strictSame(await listAudit(store, { before: undefined, limit: 10 }), [])
      const result = await run(state)
      t.strictSame(
        result.changes.map(({ isDone, ...change }) => change),
        dry.changes.map(({ isDone, ...change }) => change),
      )
      t.strictSame([...new Set(dry.changes.map(({ isDone }) => isDone))], [false])
      t.strictSame([...new Set(result.changes.map(({ isDone }) => isDone))], [true])
      t.strictSame(
        result.changes.map(({ action, account, key }) => [action, account, key]),
        [
          ['create-account', ada.email, undefined],
          ['create-account', bob.email, undefined],
          ['create-key', ada.email, 'ci'],
          ['create-key', ada.email, 'old'],
        ],
      )
      t.strictSame([dry.keys, dry.failure, result.failure, result.unchanged], [[], undefined, undefined, 0])
      t.strictSame(
        result.keys.map(({ account, name, apiKey }) => [account, name, apiKey !== undefined]),
        [
          [ada.email, 'default', true],
          [bob.email, 'default', true],
          [ada.email, 'ci', false],
        ],
      )
      const account = await accounts.get(ada.email)
      t.match(account, { firstName: 'Ada', lastName: '', role: 'Admin', plan: 'pro', managedBy: 'default' })
      for (const { name, secretKey } of result.keys.filter(({ account }) => account === ada.email)) {
        t.strictSame(namedKeyOf(account, name)?.digest, digestOf(secretKey), name)
        t.equal(parseKey('secretKey', secretKey)?.accountId, account.id)
        t.notMatch(JSON.stringify(result.changes), secretKey.slice(-20))
      }
      t.match(namedKeyOf(account, 'ci'), { scopes: ada.keys[0].scopes, quota: { limit: 100, per: 'day' } })
      t.equal(namedKeyOf(account, 'old')?.expiresAt, Date.parse('2024-01-31T00:00:00Z'))
      t.equal(await store.findImportedKey(Buffer.from(sha256Of('AKIA-one'), 'hex')), account.id)
      t.equal((await accounts.get(bob.email)).isDisabled, true)
    })

    t.test('a second run changes nothing', async (t) => {
      const before = await accounts.get(ada.email)
      t.match(await run(state), { changes: [], unchanged: 2, keys: [], failure: undefined })
      t.strictSame(await accounts.get(ada.email), before)
    })

    t.test('what the file does not mention stays as it is', async (t) => {
      await accounts.update(ada.email, { lastName: 'Lovelace' })
      const result = await run({ accounts: [{ email: 'ADA@example.com', keys: [{ name: 'ci' }] }] })
      t.match(result, { changes: [], unchanged: 1 })
      t.match(await accounts.get(ada.email), { lastName: 'Lovelace', plan: 'pro' })
    })

    t.test(
      'accounts and keys match the file afterwards, and the audit log has an entry for each change',
      async (t) => {
        const before = await accounts.get(ada.email)
        const result = await run({
          accounts: [
            {
              ...ada,
              firstName: 'Augusta',
              plan: null,
              keys: [
                { name: 'ci', scopes: ['orders:read'], addresses: ['10.0.0.0/8'], quota: null },
                { name: 'old', digest: sha256Of('AKIA-two'), expiresAt: null },
              ],
            },
            { ...bob, disabled: false },
          ],
        })
        t.strictSame(
          result.changes.map(({ isDone, ...change }) => change),
          [
            {
              action: 'update-account',
              account: ada.email,
              fields: [
                { field: 'firstName', from: 'Ada', to: 'Augusta' },
                { field: 'plan', from: 'pro', to: null },
              ],
            },
            {
              action: 'update-account',
              account: bob.email,
              fields: [{ field: 'disabled', from: true, to: false }],
            },
            {
              action: 'replace-key',
              account: ada.email,
              key: 'old',
              fields: [
                {
                  field: 'digest',
                  from: `${sha256Of('AKIA-one').slice(0, 12)}…`,
                  to: `${sha256Of('AKIA-two').slice(0, 12)}…`,
                },
                { field: 'expiresAt', from: '2024-01-31T00:00:00.000Z', to: null },
              ],
            },
            {
              action: 'update-key',
              account: ada.email,
              key: 'ci',
              fields: [
                { field: 'scopes', from: ['orders:read', 'orders:write'], to: ['orders:read'] },
                { field: 'addresses', from: [], to: ['10.0.0.0/8'] },
                { field: 'quota', from: { limit: 100, per: 'day' }, to: null },
              ],
            },
          ],
        )
        const after = await accounts.get(ada.email)
        t.match(after, { firstName: 'Augusta', plan: undefined })
        t.match(namedKeyOf(after, 'ci'), { scopes: ['orders:read'], addresses: ['10.0.0.0/8'] })
        t.equal(namedKeyOf(after, 'ci')?.quota, undefined)
        t.strictSame(namedKeyOf(after, 'ci')?.digest, namedKeyOf(before, 'ci')?.digest)
        t.equal(await store.findImportedKey(Buffer.from(sha256Of('AKIA-one'), 'hex')), undefined)
        t.equal(await store.findImportedKey(Buffer.from(sha256Of('AKIA-two'), 'hex')), after.id)
        const entries = await listAudit(store, { before: undefined, limit: 4 })
        t.strictSame(entries.map(({ action }) => action).toSorted(), [
          'account-updated',
          'account-updated',
          'secret-key-reset',
          'secret-key-updated',
        ])
      },
    )
  })
}

t.test('narrower limits end the sessions of a key, wider ones do not', async (t) => {
  const { run, store, accounts, time } = await openApply(t)
  const scoped = (...scopes: readonly string[]) => ({
    accounts: [{ email: ada.email, keys: [{ name: 'ci', scopes }] }],
  })
  await run(scoped('a', 'b'))
  const account = await accounts.get(ada.email)
  const session = await startSession(store, account, {
    keyId: namedKeyOf(account, 'ci')?.id ?? '',
    createdAt: time.now,
    expiresAt: time.now + 60_000,
  })
  await run(scoped('a', 'b', 'c'))
  t.equal((await store.findSession(session.id))?.end, undefined)
  await run(scoped('a', 'b'))
  t.equal((await store.findSession(session.id))?.end, 'revoked')
})

t.test('a change of limits applies to the old key during an overlap too', async (t) => {
  const { run, accounts, secretKeys } = await openApply(t)
  await run({ accounts: [{ email: ada.email, keys: [{ name: 'ci' }] }] })
  await secretKeys.rotate(ada.email, 'ci', 60)
  await run({ accounts: [{ email: ada.email, keys: [{ name: 'ci', scopes: ['a'] }] }] })
  const keys = (await accounts.get(ada.email)).secretKeys.filter(({ name }) => name === 'ci')
  t.strictSame(
    keys.map(({ scopes, revokedAt }) => [scopes, revokedAt !== undefined]),
    [
      [['a'], true],
      [['a'], false],
    ],
  )
})

t.test('an expired key may stay in the file, but is not created', async (t) => {
  const { run, time } = await openApply(t)
  const state = {
    accounts: [{ email: ada.email, keys: [{ name: 'ci', expiresAt: '2024-01-31T00:00:00Z' }] }],
  }
  await run(state)
  time.now = Date.parse('2025-01-01T00:00:00Z')
  t.match(await run(state), { changes: [], unchanged: 1 })
  const other = { accounts: [{ ...state.accounts[0], email: bob.email }] }
  t.strictSame(await refusalOf(run(other)), ['accounts.0.keys.0.expiresAt'])
})

t.test('a run that ends early is finished by the next one', async (t) => {
  const { run, accounts } = await openApply(t)
  const state = { accounts: [{ ...ada }, { email: 'cyd@example.com', keys: [{ name: 'ci' }] }] }
  const saved: string[] = []
  let left = 3
  const result = await run(state, {
    onKeys: async (keys) => {
      if (left-- === 0) throw new Error('the disk is full')
      saved.push(...keys.map(({ secretKey }) => secretKey))
    },
  })
  t.match(result, { failure: { code: 'internal', account: 'cyd@example.com' } })
  t.strictSame(
    result.changes.map(({ action, key, isDone }) => [action, key, isDone]),
    [
      ['create-account', undefined, true],
      ['create-account', undefined, true],
      ['create-key', 'ci', true],
      ['create-key', 'old', true],
      ['create-key', 'ci', false],
    ],
  )
  t.strictSame(
    result.keys.map(({ secretKey }) => secretKey),
    saved,
    'no key is valid that was not shown',
  )
  t.equal(namedKeyOf(await accounts.get('cyd@example.com'), 'ci'), undefined)
  const rest = await run(state)
  t.match(rest.changes, [{ action: 'create-key', account: 'cyd@example.com', key: 'ci', isDone: true }])
  t.match(await run(state), { changes: [] })
})

t.test('an error of the first change is thrown, and nothing is changed', async (t) => {
  const { run, store } = await openApply(t)
  const failing = run(
    { accounts: [bob] },
    {
      onKeys: async () => {
        throw new GatehouseError('store-unavailable')
      },
    },
  )
  t.equal(await refusalOf(failing), 'store-unavailable')
  t.strictSame(await store.listAccounts({ after: undefined, limit: 10 }), [])
})
