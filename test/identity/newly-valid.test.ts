import t from 'tap'
import { createKey } from '#platform/secrets/keys.ts'
import { visitor } from '../store/samples.ts'
import { openBench, wordOf } from './auth-harness.ts'

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A caller who is known here, while another process makes changes that are not heard of. */
async function openAfar(t: Parameters<typeof openBench>[0]) {
  const bench = await openBench(t)
  const caller = await bench.newCaller()
  const wordNow = async (credentials: Parameters<typeof bench.decide>[1]) =>
    wordOf(await bench.decide('any', credentials))
  t.equal(await wordNow({ secretKey: caller.secretKey }), 'secretKey')
  t.equal(await wordNow(bearer(caller.accessToken)), 'bearer')
  return { ...bench, caller, wordNow }
}

t.test('a key just reset on another instance is valid at once', async (t) => {
  const { afar, caller, wordNow } = await openAfar(t)
  const newKey = await afar.keys.resetSecretKey(caller.id, 0)
  t.equal(await wordNow({ secretKey: newKey }), 'secretKey')
  t.equal(await wordNow({ secretKey: caller.secretKey }), 'secret-key-invalid')
})

t.test('an account just re-enabled elsewhere is valid at once, with key and new token', async (t) => {
  const { accounts, afar, sessions, caller, wordNow } = await openAfar(t)
  await accounts.update(caller.id, { isDisabled: true })
  t.equal(await wordNow({ secretKey: caller.secretKey }), 'account-disabled')
  await afar.accounts.update(caller.id, { isDisabled: false })
  const { accessToken } = await sessions.start(caller.secretKey, caller.apiKey, visitor)
  t.equal(await wordNow(bearer(accessToken)), 'bearer')
  await accounts.update(caller.id, { isDisabled: true })
  t.equal(await wordNow({ secretKey: caller.secretKey }), 'account-disabled')
  await afar.accounts.update(caller.id, { isDisabled: false })
  t.equal(await wordNow({ secretKey: caller.secretKey }), 'secretKey')
  t.equal(await wordNow(bearer(caller.accessToken)), 'token-revoked')
})

t.test(
  'a token of a role just changed elsewhere, or of a session just started, is valid at once',
  async (t) => {
    const { afar, sessions, caller, wordNow } = await openAfar(t)
    await afar.accounts.update(caller.id, { role: 'Admin' })
    const promoted = await sessions.refresh(caller.refreshToken, visitor)
    t.equal(await wordNow(bearer(promoted.accessToken)), 'bearer')
    t.equal(await wordNow(bearer(caller.accessToken)), 'token-revoked')
    const newKey = await afar.keys.resetSecretKey(caller.id, 0)
    const started = await sessions.start(newKey, caller.apiKey, visitor)
    t.equal(await wordNow(bearer(started.accessToken)), 'bearer')
    t.equal(await wordNow(bearer(promoted.accessToken)), 'token-revoked')
  },
)

t.test('a token of a role changed there and back elsewhere is valid at once', async (t) => {
  const { afar, sessions, caller, wordNow } = await openAfar(t)
  await afar.accounts.update(caller.id, { role: 'Auditor' })
  await afar.accounts.update(caller.id, { role: 'User' })
  const again = await sessions.refresh(caller.refreshToken, visitor)
  t.equal(await wordNow(bearer(again.accessToken)), 'bearer')
  t.equal(await wordNow(bearer(caller.accessToken)), 'token-revoked')
})

t.test('wrong keys of a known account cost few change log reads, and no look-up each', async (t) => {
  const { store, caller, wordNow } = await openAfar(t)
  const asked = { readings: 0, lookUps: 0 }
  const { readChanges, findAccount } = store
  Object.assign(store, {
    readChanges: (after: number | undefined) => {
      asked.readings++
      return readChanges(after)
    },
    findAccount: (id: string) => {
      asked.lookUps++
      return findAccount(id)
    },
  })
  const keys = Array.from({ length: 500 }, () => createKey('secretKey', caller.id))
  const askAll = () => Promise.all(keys.map((secretKey) => wordNow({ secretKey })))
  t.strictSame(new Set(await askAll()), new Set(['secret-key-invalid']))
  t.ok(asked.readings >= 1 && asked.readings <= 2, `${asked.readings} readings`)
  t.equal(asked.lookUps, 0)
  const before = asked.readings
  await askAll()
  t.equal(asked.readings, before, 'one that was found wrong is wrong for good')
})

t.test('wrong keys in sequence wait for the next due change log read', async (t) => {
  const { store, caller, wordNow } = await openAfar(t)
  let readings = 0
  const { readChanges } = store
  Object.assign(store, {
    readChanges: (after: number | undefined) => {
      readings++
      return readChanges(after)
    },
  })
  const startedAt = performance.now()
  for (let asked = 0; asked < 50; asked++) {
    t.equal(await wordNow({ secretKey: createKey('secretKey', caller.id) }), 'secret-key-invalid')
  }
  const most = Math.ceil((performance.now() - startedAt) / 5) + 1
  t.ok(readings <= most, `${readings} readings, ${most} would have been fine`)
})
