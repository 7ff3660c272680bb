import t, { type Test } from 'tap'
import type { Account } from '#store/accounts.ts'
import type { Actor } from '#store/audit-entry.ts'
import { applyOn, openApply, refusalOf } from './support.ts'

const emailOf = (index: number) => `user${index}@example.com`
const keyNames = ['a', 'b', 'c']

function stateOf(count: number, keys: readonly string[], name?: string) {
  return {
    ...(name !== undefined && { name }),
    accounts: Array.from({ length: count }, (_, index) => ({
      email: emailOf(index),
      keys: keys.map((key) => ({ name: key })),
    })),
  }
}

const prune = (max?: number) => ({ prune: { max } })

async function openWith(t: Test, count: number) {
  const opened = await openApply(t)
  await opened.run(stateOf(count, keyNames))
  return opened
}

t.test('half of the accounts and half of the keys may be pruned, and no more', async (t) => {
  const { run } = await openWith(t, 4)
  const dry = { ...prune(), isDryRun: true }
  t.equal((await run(stateOf(2, keyNames), dry)).changes.length, 2)
  t.strictSame(await refusalOf(run(stateOf(1, keyNames), dry)), ['pruneMax'])
  t.strictSame(await refusalOf(run(stateOf(0, keyNames), dry)), ['pruneMax'])
  // A third of 12 keys, then two thirds.
  t.equal((await run(stateOf(4, ['a', 'b']), dry)).changes.length, 4)
  t.strictSame(await refusalOf(run(stateOf(4, ['a']), dry)), ['pruneMax'])
})

t.test('as many may be pruned as are allowed, and not one more', async (t) => {
  const { run } = await openWith(t, 4)
  const dry = (max: number) => ({ ...prune(max), isDryRun: true })
  t.equal((await run(stateOf(1, ['a', 'b']), dry(4))).changes.length, 4)
  t.strictSame(await refusalOf(run(stateOf(1, ['a', 'b']), dry(3))), ['pruneMax'])
  t.strictSame(await refusalOf(run(stateOf(0, []), dry(0))), ['pruneMax'])
  t.equal((await run(stateOf(0, []), dry(1_000))).changes.length, 4)
  t.match(await run(stateOf(4, keyNames), dry(0)), { changes: [] })
})

t.test('pruning removes further keys of listed accounts, and accounts that were listed before', async (t) => {
  const { run, accounts } = await openWith(t, 4)
  const foreign = await accounts.create({
    email: 'foreign@example.com',
    firstName: '',
    lastName: '',
    role: 'User',
    isVerified: false,
  })
  await run({ ...stateOf(1, [], 'other'), accounts: [{ email: 'other@example.com' }] })
  const unmanaged = { email: emailOf(1) }
  const state = { accounts: [...stateOf(1, ['a', 'b']).accounts, unmanaged, { email: emailOf(2) }] }
  const result = await run(state, prune())
  t.strictSame(
    result.changes.map(({ action, account, key }) => [action, account, key]),
    [
      ['disable-account', emailOf(3), undefined],
      ['revoke-key', emailOf(0), 'c'],
    ],
  )
  const namesOf = ({ secretKeys }: Account) => secretKeys.map(({ name }) => name)
  t.strictSame(namesOf(await accounts.get(emailOf(0))), ['default', 'a', 'b'])
  t.strictSame(namesOf(await accounts.get(emailOf(1))), ['default', ...keyNames], 'it lists no keys')
  t.equal((await accounts.get(emailOf(3))).isDisabled, true)
  t.equal((await accounts.get(foreign.account.id)).isDisabled, false)
  t.equal((await accounts.get('other@example.com')).isDisabled, false)
  t.match(await run(state, prune(0)), { changes: [] }, 'a second run changes nothing')
})

t.test('an account belongs to the file that listed it last', async (t) => {
  const { run, accounts } = await openWith(t, 2)
  const taken = await run({ name: 'team', accounts: [{ email: emailOf(1) }] })
  t.match(taken.changes, [{ fields: [{ field: 'managedBy', from: 'default', to: 'team' }] }])
  t.match(await run(stateOf(1, keyNames), prune(0)), { changes: [] })
  t.equal((await accounts.get(emailOf(1))).isDisabled, false)
})

t.test('nobody disables or demotes their own account, and another Admin is left', async (t) => {
  const { run, store, accounts } = await openApply(t)
  const admin = { email: 'admin@example.com', role: 'Admin' }
  await run({ accounts: [admin, { email: emailOf(0) }, { email: emailOf(1) }] })
  const { id, email } = await accounts.get(admin.email)
  t.equal(await refusalOf(run({ accounts: [{ ...admin, disabled: true }] })), 'last-admin')
  t.equal(await refusalOf(run({ accounts: [{ ...admin, role: 'User' }] })), 'last-admin')
  t.equal(
    await refusalOf(run({ accounts: [{ email: emailOf(0) }, { email: emailOf(1) }] }, prune())),
    'last-admin',
  )
  const by: Actor = { kind: 'account', channel: 'api', id, email, address: '192.0.2.1' }
  const own = applyOn(store, { by })
  const another = { email: emailOf(0), role: 'Admin' }
  for (const change of [{ disabled: true }, { role: 'User' }])
    t.equal(await refusalOf(own.run({ accounts: [{ ...admin, ...change }, another] })), 'own-account')
  t.equal(await refusalOf(own.run({ accounts: [another, { email: emailOf(1) }] }, prune())), 'own-account')
  const named = { accounts: [{ ...admin, firstName: 'Ada', keys: [{ name: 'ci' }] }] }
  t.equal(await refusalOf(own.run(named, { mayChangeOwn: false })), 'own-account')
  t.equal((await accounts.get(id)).revision, 1, 'nothing was changed')
  t.match(await own.run({ accounts: [admin] }, { mayChangeOwn: false }), { changes: [] })
  t.match(await own.run(named), { failure: undefined })
  // The other account becomes an Admin before this one is demoted.
  t.match(await run({ accounts: [{ ...admin, role: 'User' }, another] }), { failure: undefined })
  t.match(await accounts.get(id), { role: 'User' })
})
