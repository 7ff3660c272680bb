import t, { type Test } from 'tap'
import { createContact } from '../../src/cache/contact.ts'
import { createDirectory, type DirectoryOptions } from '../../src/cache/directory.ts'
import type { LookUp } from '../../src/cache/loading-cache.ts'
import type { Change, LoggedChange } from '../../src/store/store.ts'
import { createAccount, newKey, now, startSession, useOf } from '../store/samples.ts'
import { newSqlitePlace } from '../store/sqlite/place.ts'

/** A change as it is heard of. */
function logged(change: Change, at = now): LoggedChange {
  return { change, position: 1, at }
}

async function openDirectory(t: Test, options: Partial<DirectoryOptions> = {}) {
  const store = await (await newSqlitePlace(t)).open()
  const time = { now }
  const reports: LookUp[] = []
  const contact = { ...createContact(), isUp: true, completeSince: now }
  const directory = createDirectory({
    store,
    contact,
    ...{
      entriesMax: 100,
      ttlMs: 60_000,
      negativeTtlMs: 5_000,
      maxStaleMs: 600_000,
      tokenLifetimeMs: 600_000,
    },
    clock: () => time.now,
    report: (result) => reports.push(result),
    ...options,
  })
  return { store, contact, directory, reports, time }
}

t.test('an account is known as far as it takes part in deciding', async (t) => {
  const { store, directory } = await openDirectory(t)
  const account = await createAccount(store, { role: 'Admin', isDisabled: true, sessionEpoch: 3 })
  const graced = await createAccount(store, {
    previousSecretKey: { digest: newKey().digest, validUntil: now + 1 },
  })
  const { id, email, role, firstName, lastName, isVerified } = account
  t.strictSame(await directory.account(id), {
    isDisabled: true,
    sessionEpoch: 3,
    secretKey: { digest: new Uint8Array(account.secretKey.digest) },
    previousSecretKey: undefined,
    principal: {
      ...{ accountId: id, role, scheme: 'secretKey', sessionId: undefined },
      profile: { email, firstName, lastName, isVerified },
    },
  })
  t.match(await directory.account(graced.id), { previousSecretKey: { validUntil: now + 1 } })
  t.equal(await directory.account('nobody'), undefined)
})

t.test('neither sealed keys nor the API key are kept in the process', async (t) => {
  const { store, directory } = await openDirectory(t)
  const account = await createAccount(store)
  const known = JSON.stringify(await directory.account(account.id), (_, part: unknown) =>
    part instanceof Uint8Array ? Buffer.from(part).toString('hex') : part,
  )
  t.ok(known.includes(Buffer.from(account.secretKey.digest).toString('hex')))
  for (const bytes of [account.secretKey.sealed, account.apiKey.sealed, account.apiKey.digest]) {
    t.notOk(known.includes(Buffer.from(bytes ?? []).toString('hex')))
  }
})

t.test('a session is known with its owner, epoch and end', async (t) => {
  const { store, directory } = await openDirectory(t)
  const account = await createAccount(store, { sessionEpoch: 2 })
  const session = await startSession(store, account)
  const known = { accountId: account.id, sessionEpoch: 2 }
  t.strictSame(await directory.session(session.id), { ...known, isEnded: false })
  await store.endSession(session.id, 'revoked')
  t.match(directory.session(session.id), { isEnded: false }, 'as long as nobody says that it changed')
  directory.apply(logged({ kind: 'session', sessionId: session.id }))
  t.strictSame(await directory.session(session.id), { ...known, isEnded: true })
  t.equal(await directory.session('none'), undefined)
  const reused = await startSession(store, account)
  await store.rotateSession(useOf(reused))
  await store.rotateSession(useOf(reused, { graceMs: 0 }))
  t.strictSame(await directory.session(reused.id), { ...known, isEnded: true })
})

t.test('a change is of one account, one session or neither', async (t) => {
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
  t.strictSame(unknown(), [false, false, true])
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

t.test('while the store is away what is known stays known, and the rest cannot be told', async (t) => {
  const { store, directory } = await openDirectory(t)
  const { id } = await createAccount(store)
  await directory.account(id)
  await store.close()
  t.match(directory.account(id), { principal: { accountId: id } })
  await t.rejects(Promise.resolve(directory.account('other')), { code: 'store-unavailable' })
  await t.rejects(Promise.resolve(directory.session('other')), { code: 'store-unavailable' })
})

t.test('whether something has changed since a time can be told without the store', async (t) => {
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

t.test('where too much has changed to remember it, nothing older can be told', async (t) => {
  const { directory } = await openDirectory(t)
  const of = { accountId: 'account', sessionId: 'session' }
  for (let change = 0; change <= 100_000; change++) {
    directory.apply(logged({ kind: 'account', accountId: `account ${change}` }, now + change))
  }
  t.equal(directory.isUnchangedSince(of, now), false)
  t.equal(directory.isUnchangedSince(of, now + 1), true)
})
