import t from 'tap'
import { createSecretKeyScheme } from '#identity/secret-key.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createAccountId, createKey } from '#platform/secrets/keys.ts'
import { visitor } from '../store/samples.ts'
import { openBench, wordOf } from './auth-harness.ts'
import { createBench as createTokens, newSigningKey } from './tokens/forged-tokens.ts'

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A caller nobody has asked about here yet, while the store is out of reach. */
async function openOutage(...[t, options]: Parameters<typeof openBench>) {
  const bench = await openBench(t, options)
  bench.contact.completeSince = bench.time.nowMs - 1_000
  const caller = await bench.newCaller()
  const wordNow = async (credentials: Parameters<typeof bench.decide>[1]) =>
    bench.decide('any', credentials).then(wordOf, (error: { code?: string }) => error.code)
  return { ...bench, caller, wordNow }
}

t.test('in an outage a token is valid by its claims if all changes since its issue are known', async (t) => {
  const { contact, caller, decide, wordNow } = await openOutage(t)
  contact.isUp = false
  t.match(await decide('any', bearer(caller.accessToken)), {
    principal: { accountId: caller.id, role: 'User', profile: undefined },
  })
  t.equal(await wordNow({ secretKey: caller.secretKey }), 'store-unavailable', 'a key says nothing')
})

t.test('in an outage a token of a changed account is undecided, of an ended session refused', async (t) => {
  const { contact, directory, caller, wordNow, time } = await openOutage(t)
  contact.isUp = false
  const sessionId = caller.refreshToken.split('_')[1] ?? ''
  for (const [change, word] of [
    [{ kind: 'account', accountId: caller.id }, 'store-unavailable'],
    [{ kind: 'session', sessionId }, 'token-revoked'],
  ] as const) {
    directory.apply({ change: { kind: 'account', accountId: 'other' }, position: 1, at: time.nowMs })
    directory.apply({ change, position: 2, at: time.nowMs })
    t.equal(await wordNow(bearer(caller.accessToken)), word)
  }
})

t.test('in an outage a token from a clock ahead, within the tolerance, is undecided', async (t) => {
  const { afar, accessTokens, contact, directory, caller, wordNow, time } = await openOutage(t, {
    clockToleranceMs: 5_000,
  })
  contact.completeSince = 0
  const issue = (aheadMs: number) => {
    time.nowMs += aheadMs
    const sessionId = caller.refreshToken.split('_')[1] ?? ''
    const token = accessTokens.issue({ accountId: caller.id, sessionId, role: 'User', roleEpoch: 1 })
    time.nowMs -= aheadMs
    return token
  }
  const early = issue(4_000)
  time.nowMs += 1_500
  await afar.accounts.update(caller.id, { isDisabled: true })
  const change = { kind: 'account', accountId: caller.id } as const
  directory.apply({ change, position: 1, at: time.nowMs })
  contact.isUp = false
  t.equal(await wordNow(bearer(early)), 'store-unavailable')
  time.nowMs += 7_000
  t.equal(await wordNow(bearer(issue(0))), 'bearer', 'one that is surely newer goes on')
})

t.test('in an outage a token of a possibly newer role is undecided, given a slow clock', async (t) => {
  const { accounts, accessTokens, contact, caller, decide, wordNow, time } = await openOutage(t, {
    clockToleranceMs: 5_000,
  })
  await decide('any', bearer(caller.accessToken))
  await accounts.update(caller.id, { role: 'Admin' })
  await new Promise((resolve) => setImmediate(resolve))
  contact.isUp = false
  contact.confirmedAt = time.nowMs + 2_000
  const sessionId = caller.refreshToken.split('_')[1] ?? ''
  t.equal(
    await wordNow(
      bearer(accessTokens.issue({ accountId: caller.id, sessionId, role: 'Operator', roleEpoch: 2 })),
    ),
    'store-unavailable',
  )
  contact.confirmedAt = time.nowMs + 6_000
  t.equal(await wordNow(bearer(caller.accessToken)), 'token-revoked')
})

t.test('in an outage a token older than the first known change is undecided', async (t) => {
  const { contact, caller, wordNow, time } = await openOutage(t)
  contact.isUp = false
  contact.completeSince = time.nowMs + 1
  t.equal(await wordNow(bearer(caller.accessToken)), 'store-unavailable')
})

t.test('in an outage known revocations stay in effect', async (t) => {
  const { accounts, sessions, newCaller, contact, wordNow } = await openOutage(t)
  const [disabled, signedOut] = [await newCaller(), await newCaller()]
  await accounts.update(disabled.id, { isDisabled: true })
  await sessions.revoke(signedOut.refreshToken)
  for (const { accessToken } of [disabled, signedOut]) {
    t.equal(await wordNow(bearer(accessToken)), 'token-revoked')
  }
  contact.isUp = false
  for (const { accessToken } of [disabled, signedOut]) {
    t.equal(await wordNow(bearer(accessToken)), 'token-revoked')
  }
})

t.test('an invalid token is refused in an outage too', async (t) => {
  const { contact, caller, wordNow, time } = await openOutage(t)
  contact.isUp = false
  t.equal(await wordNow(bearer('a.b.c')), 'token-invalid')
  t.equal(await wordNow({ secretKey: 'gsk_x' }), 'secret-key-invalid')
  time.nowMs += 600_000
  t.equal(await wordNow(bearer(caller.accessToken)), 'token-expired')
})

t.test('in an outage a revoked key is refused, even one not used since', async (t) => {
  const { accounts, keys, newCaller, decide, contact, wordNow } = await openOutage(t)
  const [reset, deleted, disabled] = [await newCaller(), await newCaller(), await newCaller()]
  for (const { secretKey, accessToken } of [reset, deleted, disabled]) {
    await decide('any', { secretKey })
    await decide('any', bearer(accessToken))
  }
  const newKey = await keys.resetSecretKey(reset.id, 0)
  await accounts.remove(deleted.id)
  await accounts.update(disabled.id, { isDisabled: true })
  await new Promise((resolve) => setImmediate(resolve))
  contact.isUp = false
  t.equal(await wordNow({ secretKey: reset.secretKey }), 'secret-key-invalid')
  t.equal(await wordNow({ secretKey: newKey }), 'secretKey')
  t.equal(await wordNow({ secretKey: deleted.secretKey }), 'secret-key-invalid')
  t.equal(await wordNow({ secretKey: disabled.secretKey }), 'account-disabled')
  for (const { accessToken } of [reset, deleted, disabled]) {
    t.equal(await wordNow(bearer(accessToken)), 'token-revoked')
  }
})

t.test('in an outage a key that may be new is undecided', async (t) => {
  const { contact, caller, decide, wordNow, time } = await openOutage(t)
  await decide('any', { secretKey: caller.secretKey })
  const refused = createKey('secretKey', caller.id)
  t.equal(await wordNow({ secretKey: refused }), 'secret-key-invalid')
  contact.isUp = false
  t.equal(await wordNow({ secretKey: createKey('secretKey', caller.id) }), 'store-unavailable')
  t.equal(await wordNow({ secretKey: refused }), 'secret-key-invalid', 'one that was wrong before still is')
  t.equal(await wordNow({ secretKey: caller.secretKey }), 'secretKey')
  time.nowMs += 3_600_000
  t.equal(await wordNow({ secretKey: caller.secretKey }), 'store-unavailable', 'nobody is known for ever')
})

t.test('a key whose overlap ends during an outage is refused from then on', async (t) => {
  const { keys, contact, caller, decide, wordNow, time } = await openOutage(t)
  await keys.resetSecretKey(caller.id, 60)
  await decide('any', { secretKey: caller.secretKey })
  contact.isUp = false
  t.equal(await wordNow({ secretKey: caller.secretKey }), 'secretKey')
  time.nowMs += 60_000
  t.equal(await wordNow({ secretKey: caller.secretKey }), 'secret-key-invalid')
})

t.test('in an outage a token of another role is refused if older, undecided if maybe newer', async (t) => {
  const { accounts, contact, caller, decide, accessTokens, wordNow, time } = await openOutage(t)
  await decide('any', bearer(caller.accessToken))
  await accounts.update(caller.id, { role: 'Admin' })
  await new Promise((resolve) => setImmediate(resolve))
  contact.isUp = false
  contact.confirmedAt = time.nowMs + 1_000
  t.equal(await wordNow(bearer(caller.accessToken)), 'token-revoked')
  time.nowMs += 1_000
  const sessionId = caller.refreshToken.split('_')[1] ?? ''
  const newer = accessTokens.issue({ accountId: caller.id, sessionId, role: 'Operator', roleEpoch: 3 })
  t.equal(await wordNow(bearer(newer)), 'store-unavailable')
})

t.test('a token of a role changed there and back is refused for good', async (t) => {
  const { accounts, sessions, contact, caller, decide, wordNow } = await openOutage(t)
  await decide('any', bearer(caller.accessToken))
  await accounts.update(caller.id, { role: 'Auditor' })
  await accounts.update(caller.id, { role: 'User' })
  const { accessToken } = await sessions.refresh(caller.refreshToken, visitor)
  await new Promise((resolve) => setImmediate(resolve))
  contact.isUp = false
  contact.confirmedAt = 0
  t.equal(await wordNow(bearer(caller.accessToken)), 'token-revoked')
  t.equal(await wordNow(bearer(accessToken)), 'bearer')
})

t.test('in an outage a token of a retired key is refused, of an unknown key undecided', async (t) => {
  const { contact, caller, keyring, wordNow } = await openOutage(t)
  const { issue } = createTokens([newSigningKey('new')], { clockToleranceMs: 0 })
  const sessionId = caller.refreshToken.split('_')[1] ?? ''
  const newer = issue({ accountId: caller.id, sessionId, role: 'User', roleEpoch: 1 })
  t.equal(await wordNow(bearer(newer)), 'token-invalid')
  contact.isUp = false
  t.equal(await wordNow(bearer(newer)), 'store-unavailable')
  const foreign = createTokens([newSigningKey('new')], { issuer: 'https://elsewhere.example' })
  t.equal(
    await wordNow(bearer(foreign.issue({ accountId: 'a', sessionId: 's', role: 'User', roleEpoch: 1 }))),
    'token-invalid',
  )
  keyring.replace([newSigningKey('other')])
  // As if it had not been seen before: what is kept of seen ones is dropped with the keys.
  t.equal(await wordNow(bearer(`${caller.accessToken}`)), 'token-invalid')
})

t.test('a key without an account is refused in an outage, but an error of ours is none', async (t) => {
  const { directory, time } = await openBench(t)
  const key = createKey('secretKey', createAccountId(), 'gate')
  const decideAfter = async (error: Error) => {
    const confirm = () => Promise.reject(error)
    return createSecretKeyScheme({ ...directory, confirm }, () => time.nowMs).authenticate(key)
  }
  t.match(await decideAfter(new GatehouseError('store-unavailable')), { code: 'secret-key-invalid' })
  await t.rejects(decideAfter(new TypeError('a fault')), { message: 'a fault' })
})
