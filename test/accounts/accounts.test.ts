import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { createAccounts } from '#accounts/accounts.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { digestOf, findKey, isApiKeyOf, parseKey } from '#platform/secrets/keys.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import type { Account } from '#store/accounts.ts'
import { keyState } from '#store/secret-keys.ts'
import { listAudit } from '../store/portal-samples.ts'
import { newSession, secretKeyOf, startSession } from '../store/samples.ts'
import { newSqlitePlace } from '../store/sqlite/place.ts'
import { actsOn } from './account-actions.ts'

const input = {
  email: 'Ada@Example.com',
  firstName: 'Ada',
  lastName: 'Lovelace',
  role: 'User',
  isVerified: false,
}

const sealingKey = randomBytes(32)

async function openAccounts(t: Test, { reveal = true } = {}) {
  const store = await (await newSqlitePlace(t)).open()
  const time = { now: 1_700_000_000_000 }
  const sealer = createSealer(sealingKey)
  return { store, time, ...actsOn(store, { sealer, reveal, prefix: 'gate', clock: () => time.now }) }
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  const error = await work.catch((error: unknown) => error)
  return error instanceof GatehouseError ? error.code : error
}

/** Whether a digest is that of a secret key that is valid then. */
function isSecretKeyOf(account: Account | undefined, digest: Uint8Array, now: number): boolean {
  const key = findKey(account?.secretKeys ?? [], digest)
  return key !== undefined && keyState(key, now) === 'valid'
}

t.test('a new account has two keys, of which the store has only digests', async (t) => {
  const { store, accounts, time } = await openAccounts(t)
  const { account, secretKey, apiKey } = await accounts.create(input)
  t.match(account, { ...input, isDisabled: false, createdAt: time.now, revision: 1 })
  const found = await store.findAccount(account.id)
  t.equal(parseKey('secretKey', secretKey)?.accountId, account.id)
  t.equal(parseKey('apiKey', apiKey)?.accountId, account.id)
  t.equal(isSecretKeyOf(found, digestOf(secretKey), time.now), true)
  t.equal(found && isApiKeyOf(found, digestOf(apiKey)), true)
  const stored = [...(found?.secretKeys ?? []), found?.apiKey].flatMap((part) => Object.values(part ?? {}))
  const bytes = Buffer.concat(stored.filter((part) => part instanceof Uint8Array))
  for (const key of [secretKey, apiKey]) t.notOk(bytes.includes(key.slice(21, 64)))
})

t.test('creating many accounts does not block the event loop', async (t) => {
  const { accounts } = await openAccounts(t)
  let turns = 0
  let isDone = false
  const turn = (): void => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const inputs = Array.from({ length: 200 }, (_, index) => ({ ...input, email: `u${index}@example.com` }))
  const made = await accounts.createAll(inputs)
  isDone = true
  t.strictSame(
    made.map(({ account }) => account.email),
    inputs.map(({ email }) => email),
  )
  t.ok(turns >= 9, `${turns} turns of the loop`)
})

t.test('an account is found by its ID and by its e-mail in any case', async (t) => {
  const { accounts } = await openAccounts(t)
  const { account } = await accounts.create(input)
  for (const name of [account.id, 'ada@example.com', 'ADA@EXAMPLE.COM']) {
    t.equal((await accounts.get(name)).id, account.id)
  }
})

t.test('every operation on a missing account reports it as missing', async (t) => {
  const { accounts, keys } = await openAccounts(t)
  for (const name of ['nobody', 'nobody@example.com', '', '@']) {
    t.equal(await codeOf(accounts.get(name)), 'account-not-found')
    t.equal(await codeOf(accounts.update(name, { role: 'Admin' })), 'account-not-found')
    t.equal(await codeOf(accounts.remove(name)), 'account-not-found')
    t.equal(await codeOf(keys.resetSecretKey(name, 0)), 'account-not-found')
    t.equal(await codeOf(keys.resetApiKey(name)), 'account-not-found')
  }
})

t.test('an e-mail in use is refused, on creation and on change', async (t) => {
  const { accounts } = await openAccounts(t)
  await accounts.create(input)
  const other = await accounts.create({ ...input, email: 'grace@example.com' })
  const error = await accounts.create({ ...input, email: 'ADA@example.com' }).catch((error: unknown) => error)
  t.match(error, {
    code: 'account-exists',
    errors: [{ field: 'email', message: 'ADA@example.com is taken' }],
  })
  t.equal(await codeOf(accounts.update(other.account.id, { email: 'ada@EXAMPLE.com' })), 'account-exists')
  t.equal((await accounts.get(other.account.id)).email, 'grace@example.com')
})

t.test('invalid account fields are refused before anything is stored', async (t) => {
  const { accounts } = await openAccounts(t)
  const wrong = { ...input, email: 'nobody', role: '' }
  const error = await accounts.createAll([input, wrong]).catch((error: unknown) => error)
  t.match(error, { code: 'request-invalid', errors: [{ field: 'email' }, { field: 'role' }] })
  t.strictSame(await accounts.list({ after: undefined, limit: 10 }), [])
  const { account } = await accounts.create(input)
  t.equal(await codeOf(accounts.update(account.id, { firstName: 'A\nB' })), 'request-invalid')
  t.equal((await accounts.get(account.id)).firstName, 'Ada')
})

t.test('a new secret key ends the old one at once, with its sessions', async (t) => {
  const { store, accounts, keys, time } = await openAccounts(t)
  const { account, secretKey } = await accounts.create(input)
  await startSession(store, account)
  const next = await keys.resetSecretKey('ada@example.com', 0)
  const found = await accounts.get(account.id)
  t.equal(isSecretKeyOf(found, digestOf(secretKey), time.now), false)
  t.equal(isSecretKeyOf(found, digestOf(next), time.now), true)
  t.strictSame(await store.listSessions(account.id, { now: newSession(account).createdAt, limit: 1_000 }), [])
})

t.test('with an overlap the old secret key works until it ends', async (t) => {
  const { accounts, keys, time } = await openAccounts(t)
  const { account, secretKey } = await accounts.create(input)
  const next = await keys.resetSecretKey(account.id, 60)
  const found = await accounts.get(account.id)
  for (const [later, isOldGood] of [
    [0, true],
    [59_999, true],
    [60_000, false],
  ] as const) {
    t.equal(isSecretKeyOf(found, digestOf(secretKey), time.now + later), isOldGood)
    t.equal(isSecretKeyOf(found, digestOf(next), time.now + later), true)
  }
})

t.test('a new API key ends the old one and leaves the secret key', async (t) => {
  const { accounts, keys, time } = await openAccounts(t)
  const { account, secretKey, apiKey } = await accounts.create(input)
  const next = await keys.resetApiKey(account.id)
  const found = await accounts.get(account.id)
  t.equal(isApiKeyOf(found, digestOf(apiKey)), false)
  t.equal(isApiKeyOf(found, digestOf(next)), true)
  t.equal(isSecretKeyOf(found, digestOf(secretKey), time.now), true)
})

t.test('a key can be shown again from its sealed copy, also after a reset', async (t) => {
  const { accounts, keys } = await openAccounts(t)
  const { account, secretKey, apiKey } = await accounts.create(input)
  t.equal(keys.unseal(account, 'secretKey'), secretKey)
  t.equal(keys.unseal(account, 'apiKey'), apiKey)
  const next = await keys.resetSecretKey(account.id, 0)
  t.equal(keys.unseal(await accounts.get(account.id), 'secretKey'), next)
  const other = await accounts.create({ ...input, email: 'grace@example.com' })
  const swapped = { ...account, secretKeys: other.account.secretKeys, apiKey: secretKeyOf(account) }
  t.equal(keys.unseal(swapped, 'secretKey'), undefined, 'that of another account does not open')
  t.equal(keys.unseal(swapped, 'apiKey'), undefined, 'nor one kind for the other')
})

t.test('with keys shown only once no sealed copy is stored', async (t) => {
  const { store, accounts, keys } = await openAccounts(t, { reveal: false })
  const { account } = await accounts.create(input)
  await keys.resetSecretKey(account.id, 0)
  await keys.resetApiKey(account.id)
  const found = await store.findAccount(account.id)
  t.match(found, { secretKeys: [{ sealed: undefined }], apiKey: { sealed: undefined } })
  t.equal(found && keys.unseal(found, 'secretKey'), undefined)
})

t.test('keys sealed before keys are shown only once are not shown until they may be again', async (t) => {
  const { store, accounts } = await openAccounts(t)
  const { account, secretKey, apiKey } = await accounts.create(input)
  const sealer = createSealer(sealingKey)
  const keysWith = (reveal: boolean) =>
    actsOn(store, { sealer, reveal, prefix: 'gate', clock: () => 1_700_000_000_000 }).keys
  const closed = keysWith(false)
  for (const kind of ['secretKey', 'apiKey'] as const) {
    t.equal(await closed.reveal(account.id, kind), undefined, kind)
    t.equal(closed.unseal(account, kind), undefined, kind)
    t.equal((await closed.status(account.id))[kind].isRevealable, false, kind)
  }
  const filter = { action: 'key-revealed', who: undefined } as const
  const { entries } = await store.findAudit({ filter, before: undefined, limit: 10 })
  t.strictSame(entries, [], 'nothing was revealed')
  const open = keysWith(true)
  t.equal(await open.reveal(account.id, 'secretKey'), secretKey)
  t.equal(await open.reveal(account.id, 'apiKey'), apiKey)
  t.match(await open.status(account.id), {
    secretKey: { isRevealable: true },
    apiKey: { isRevealable: true },
  })
})

t.test('a removed account is returned one last time, and its e-mail is free', async (t) => {
  const { accounts } = await openAccounts(t)
  const { account } = await accounts.create(input)
  t.equal((await accounts.remove('ada@example.com')).id, account.id)
  t.equal(await codeOf(accounts.remove(account.id)), 'account-not-found')
  t.not((await accounts.create(input)).account.id, account.id)
})

t.test('an Admin cannot disable, demote or delete their own account, only change the rest', async (t) => {
  const { store, accounts: others, time } = await openAccounts(t)
  const { account } = await others.create({ ...input, role: 'Admin' })
  const { id, email } = account
  await others.create({ ...input, email: 'bob@example.com', role: 'Admin' })
  const by = { kind: 'account', channel: 'portal', id, email, address: '192.0.2.1' } as const
  const sealer = createSealer(sealingKey)
  const own = createAccounts({
    ...{ store, by, planNames: [], sealer, reveal: true, prefix: 'gate' },
    clock: () => time.now,
  })
  for (const found of [id, email, email.toUpperCase()]) {
    t.equal(await codeOf(own.update(found, { isDisabled: true })), 'own-account', found)
    t.equal(await codeOf(own.update(found, { role: 'User' })), 'own-account', found)
    t.equal(await codeOf(own.remove(found)), 'own-account', found)
  }
  t.match(await store.findAccount(id), { role: 'Admin', isDisabled: false, revision: 1 })
  t.match(await own.update(id, { role: 'Admin', firstName: 'Eve' }), { firstName: 'Eve' })
  t.match(await own.update('bob@example.com', { role: 'User' }), { role: 'User' })
})

t.test('each time that a key is shown is in the audit log, before it is shown', async (t) => {
  const { store, accounts, keys } = await openAccounts(t)
  const { account, secretKey, apiKey } = await accounts.create(input)
  t.equal(await keys.reveal(account.id, 'secretKey'), secretKey)
  t.equal(await keys.reveal(account.email, 'apiKey'), apiKey)
  t.equal(keys.unseal(account, 'apiKey'), apiKey, 'for its owner, without an entry')
  const entries = await listAudit(store, { before: undefined, limit: 10 })
  const shown = entries.filter(({ action }) => action === 'key-revealed')
  t.match(shown.toReversed(), [
    { target: { id: account.id }, details: { key: 'secretKey' } },
    { target: { id: account.id }, details: { key: 'apiKey' } },
  ])
  t.equal(shown.length, 2)
})

t.test('an overlap may last 30 days, and no longer', async (t) => {
  const { accounts, keys, time, store } = await openAccounts(t)
  const { account } = await accounts.create(input)
  const { digest } = secretKeyOf(account)
  const days = 30 * 86_400
  for (const seconds of [days + 0.001, days + 1, 1e9, Number.POSITIVE_INFINITY, -0.001, Number.NaN])
    t.equal(await codeOf(keys.resetSecretKey(account.id, seconds)), 'request-invalid', String(seconds))
  t.equal((await store.findAccount(account.id))?.revision, 1)
  await keys.resetSecretKey(account.id, days)
  const after = await store.findAccount(account.id)
  t.equal(isSecretKeyOf(after, digest, time.now + days * 1_000 - 1), true)
  t.equal(isSecretKeyOf(after, digest, time.now + days * 1_000), false)
})
