import t from 'tap'
import {
  createAccount,
  newSecretKey,
  now,
  plain,
  secretKeyOf,
  startSession,
  useOf,
} from '../../store/samples.ts'
import { logged, openDirectory } from './directory-harness.ts'

t.test('the directory caches only the fields of an account that decisions need', async (t) => {
  const { store, directory } = await openDirectory(t)
  const account = await createAccount(store, {
    role: 'Admin',
    isDisabled: true,
    sessionEpoch: 3,
    roleEpoch: 2,
  })
  const graced = await createAccount(store, {
    secretKeys: [newSecretKey({ revokedAt: now + 1 }), newSecretKey({ name: 'ci', scopes: ['orders:read'] })],
  })
  const { id, email, role, firstName, lastName, isVerified } = account
  const profile = { email, firstName, lastName, isVerified }
  t.strictSame(await directory.account(id), {
    isDisabled: true,
    sessionEpoch: 3,
    roleEpoch: 2,
    portalEpoch: 1,
    isPasswordEnough: false,
    role,
    plan: undefined,
    profile,
    keys: [
      {
        id: secretKeyOf(account).id,
        digest: Buffer.from(secretKeyOf(account).digest).toString('latin1'),
        expiresAt: undefined,
        revokedAt: undefined,
        principal: {
          accountId: id,
          role,
          scheme: 'secretKey',
          sessionId: undefined,
          key: 'default',
          scopes: [],
          addresses: [],
          quota: undefined,
          plan: undefined,
          profile,
          issuer: undefined,
        },
      },
    ],
  })
  t.match(await directory.account(graced.id), {
    keys: [{ revokedAt: now + 1 }, { principal: { key: 'ci', scopes: ['orders:read'] } }],
  })
  t.equal(await directory.account('nobody'), undefined)
})

t.test('neither sealed keys nor the API key are cached', async (t) => {
  const { store, directory } = await openDirectory(t)
  const account = await createAccount(store)
  const cached = await directory.account(account.id)
  const known = JSON.stringify(plain(cached))
  const digest = Buffer.from(secretKeyOf(account).digest).toString('latin1')
  t.equal(cached?.keys[0]?.digest, digest)
  for (const bytes of [secretKeyOf(account).sealed, account.apiKey.sealed, account.apiKey.digest]) {
    t.notOk(known.includes(Buffer.from(bytes ?? []).toString('hex')))
    t.notOk(known.includes(JSON.stringify(Buffer.from(bytes ?? []).toString('latin1'))))
  }
})

t.test('a cached session has its account and epoch, and ends once', async (t) => {
  const { store, directory } = await openDirectory(t)
  const account = await createAccount(store, { sessionEpoch: 2 })
  const session = await startSession(store, account)
  const known = { accountId: account.id, sessionEpoch: 2, keyId: session.keyId }
  t.strictSame(await directory.session(session.id), { ...known, isEnded: false })
  await store.endSession(session.id, 'revoked')
  t.match(directory.session(session.id), { isEnded: false }, 'as long as nobody says that it changed')
  directory.apply(logged({ kind: 'session', sessionId: session.id }))
  t.strictSame(directory.session(session.id), { isEnded: true }, 'which it does only once')
  t.equal(await directory.session('none'), undefined)
  const reused = await startSession(store, account)
  await store.rotateSession(useOf(reused))
  // The grace begins once the next token was given out.
  await store.acknowledgeRotations([{ sessionId: reused.id, generation: 2, at: now }])
  await store.rotateSession(useOf(reused, { graceMs: 0 }))
  t.strictSame(await directory.session(reused.id), { isEnded: true })
})

t.test('a change concerns one account, one session or neither', async (t) => {
  const { store, directory } = await openDirectory(t)
  const [one, two] = [await createAccount(store), await createAccount(store)]
  const session = await startSession(store, one)
  const look = () => [directory.account(one.id), directory.account(two.id), directory.session(session.id)]
  const unknown = () => look().map((found) => found instanceof Promise)
  await Promise.all(look())
  t.strictSame(unknown(), [false, false, false])
  directory.apply(logged({ kind: 'signing-keys' }))
  t.strictSame(unknown(), [false, false, false])
  directory.apply(logged({ kind: 'account', accountId: one.id }))
  t.strictSame(unknown(), [true, false, false])
  await Promise.all(look())
  directory.apply(logged({ kind: 'session', sessionId: session.id }))
  t.strictSame(unknown(), [false, false, false], 'that it has ended is known')
  await Promise.all(look())
  directory.apply(logged({ kind: 'account', accountId: session.id }))
  directory.apply(logged({ kind: 'session', sessionId: one.id }))
  t.strictSame(unknown(), [false, false, false], 'an ID of the other kind is another')
  directory.clear()
  t.strictSame(unknown(), [true, true, true])
})

t.test('look-ups of accounts are reported, those of sessions are not', async (t) => {
  const { store, directory, reports, time } = await openDirectory(t)
  const { id } = await createAccount(store)
  await directory.account(id)
  await directory.account(id)
  await directory.account('nobody')
  await directory.account('nobody')
  await directory.session('none')
  t.strictSame(reports, ['miss', 'hit', 'miss', 'negative_hit'])
  time.now += 5_000
  await directory.account('nobody')
  t.equal(reports.at(-1), 'miss', 'what does not exist is looked up again soon')
})

t.test('with the store down cached accounts are served, and others fail as unavailable', async (t) => {
  const { store, directory } = await openDirectory(t)
  const { id } = await createAccount(store)
  await directory.account(id)
  await store.close()
  t.match(directory.account(id), { keys: [{ principal: { accountId: id } }] })
  await t.rejects(Promise.resolve(directory.account('other')), { code: 'store-unavailable' })
  await t.rejects(Promise.resolve(directory.session('other')), { code: 'store-unavailable' })
})

t.test('changes since a given time are known without the store', async (t) => {
  const { directory, contact, time } = await openDirectory(t)
  const of = { accountId: 'account', sessionId: 'session' }
  const since = (from: number) => directory.isUnchangedSince(of, from)
  t.equal(since(now), true)
  t.equal(since(now - 1), false, 'not from before the first change that was heard of')
  directory.apply(logged({ kind: 'account', accountId: 'other' }, now + 5))
  directory.apply(logged({ kind: 'signing-keys' }, now + 5))
  t.equal(since(now), true)
  for (const [change, at] of [
    [{ kind: 'account', accountId: 'account' }, now + 10],
    [{ kind: 'session', sessionId: 'session' }, now + 20],
  ] as const) {
    directory.apply(logged(change, at))
    t.strictSame([since(now), since(at - 1), since(at), since(at + 1)], [false, false, false, true])
  }
  time.now += 600_000 + 21
  directory.apply(logged({ kind: 'account', accountId: 'other' }, time.now))
  t.equal(since(now + 30), true, 'what is older than any token is forgotten')
  contact.completeSince = Number.POSITIVE_INFINITY
  t.equal(since(time.now), false)
})

t.test('changes beyond the remembered ones make older tokens undecided', async (t) => {
  const { directory } = await openDirectory(t)
  const of = { accountId: 'account', sessionId: 'session' }
  for (let change = 0; change <= 100_000; change++) {
    directory.apply(logged({ kind: 'account', accountId: `account ${change}` }, now + change))
  }
  t.equal(directory.isUnchangedSince(of, now), false)
  t.equal(directory.isUnchangedSince(of, now + 1), true)
})

t.test('a changed cached account is looked up again without a request', async (t) => {
  const { store, directory, contact } = await openDirectory(t)
  const [known, deleted, strange] = [
    await createAccount(store),
    await createAccount(store),
    await createAccount(store),
  ]
  await Promise.all([directory.account(known.id), directory.account(deleted.id)])
  await store.updateAccount(known.id, { role: 'Admin' })
  await store.deleteAccount(deleted.id)
  for (const { id } of [known, deleted, strange]) directory.apply(logged({ kind: 'account', accountId: id }))
  await new Promise((resolve) => setImmediate(resolve))
  contact.isUp = false
  t.match(directory.account(known.id), { keys: [{ principal: { role: 'Admin' } }] })
  t.equal(directory.account(deleted.id), undefined)
  t.throws(() => directory.account(strange.id), { code: 'store-unavailable' }, 'nobody had asked for it')
})

t.test('a deleted account stays known as deleted while the store is down', async (t) => {
  const { store, directory, contact, time } = await openDirectory(t)
  const { id } = await createAccount(store)
  await directory.account(id)
  await store.deleteAccount(id)
  directory.apply(logged({ kind: 'account', accountId: id }))
  await new Promise((resolve) => setImmediate(resolve))
  // What was heard of is applied once more when the log is read.
  directory.apply(logged({ kind: 'account', accountId: id }))
  await new Promise((resolve) => setImmediate(resolve))
  await directory.account('nobody')
  contact.isUp = false
  time.now += 5_000
  t.equal(directory.account(id), undefined)
  t.throws(() => directory.account('nobody'), { code: 'store-unavailable' }, 'what never was is asked again')
  directory.clear()
  t.throws(() => directory.account(id), { code: 'store-unavailable' })
})

t.test('keys ended by a change are remembered until the cache is cleared', async (t) => {
  const { store, directory } = await openDirectory(t)
  const [reset, graced, renamed, deleted] = [
    await createAccount(store),
    await createAccount(store),
    await createAccount(store),
    await createAccount(store),
  ]
  const all = [reset, graced, renamed, deleted]
  for (const { id } of all) await directory.account(id)
  await store.resetSecretKey(reset.id, { secretKey: newSecretKey(), graceUntil: undefined })
  await store.resetSecretKey(graced.id, { secretKey: newSecretKey(), graceUntil: now + 1_000 })
  await store.updateAccount(renamed.id, { firstName: 'Eve' })
  await store.deleteAccount(deleted.id)
  for (const { id } of all) directory.apply(logged({ kind: 'account', accountId: id }))
  await new Promise((resolve) => setImmediate(resolve))
  const areSpent = () => all.map((account) => directory.revokedKeys.has(secretKeyOf(account).digest))
  t.strictSame(areSpent(), [true, false, false, true])
  directory.clear()
  t.strictSame(areSpent(), [false, false, false, false])
})

t.test('a cached account is newer than any change confirmed before it', async (t) => {
  const { directory, contact } = await openDirectory(t)
  contact.confirmedAt = now + 2_000
  const isNewer = (time: number) => directory.isAccountNewerThan('account', time)
  t.strictSame(
    [isNewer(now + 1_000), isNewer(now + 1_001)],
    [true, false],
    'a token has no unit below seconds',
  )
  directory.apply(logged({ kind: 'account', accountId: 'account' }, now + 5_000))
  t.strictSame([isNewer(now + 4_000), isNewer(now + 4_001)], [true, false], 'or before it changed')
})

t.test("a change shortly before a token's issue counts as possibly later, as clocks differ", async (t) => {
  const { directory, contact, time } = await openDirectory(t, { clockToleranceMs: 5_000 })
  const of = { accountId: 'account', sessionId: 'session' }
  const since = (from: number) => directory.isUnchangedSince(of, from)
  t.strictSame(
    [since(now + 4_999), since(now + 5_000)],
    [false, true],
    'nor is what was before the first change',
  )
  directory.apply(logged({ kind: 'account', accountId: 'account' }, now + 10_000))
  t.strictSame([since(now + 15_000), since(now + 15_001)], [false, true])
  time.now = now + 20_000
  directory.apply(logged({ kind: 'session', sessionId: 'session' }, time.now))
  t.strictSame([since(now + 25_000), since(now + 25_001)], [false, true])
  // A token that was issued then by a clock that is ahead is good until now, here.
  time.now = now + 20_000 + 605_000
  directory.apply(logged({ kind: 'account', accountId: 'other' }, time.now))
  t.equal(since(now + 25_000), false, 'it is remembered as long as such a token lives')
  contact.confirmedAt = now + 60_000
  const isNewer = (issuedAt: number) => directory.isAccountNewerThan('account', issuedAt)
  t.strictSame(
    [isNewer(now + 54_000), isNewer(now + 54_001)],
    [true, false],
    'a token may be newer than it says',
  )
})
