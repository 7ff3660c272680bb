import t from 'tap'
import { openBench, wordOf } from './bench.ts'

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A caller nobody has asked about here yet, while the store is out of reach. */
async function openOutage(t: Parameters<typeof openBench>[0]) {
  const bench = await openBench(t)
  bench.contact.completeSince = bench.time.nowMs - 1_000
  const caller = await bench.newCaller()
  const wordNow = async (credentials: Parameters<typeof bench.decide>[1]) =>
    bench.decide('any', credentials).then(wordOf, (error: { code?: string }) => error.code)
  return { ...bench, caller, wordNow }
}

t.test('a token goes on by what it says, as every change since it was issued is known', async (t) => {
  const { contact, caller, decide, wordNow } = await openOutage(t)
  contact.isUp = false
  t.match(await decide('any', bearer(caller.accessToken)), {
    principal: { accountId: caller.id, role: 'User', profile: undefined },
  })
  t.equal(await wordNow({ secretKey: caller.secretKey }), 'store-unavailable', 'a key says nothing')
})

t.test('a token of an account or session that changed since cannot be decided', async (t) => {
  const { contact, directory, caller, wordNow, time } = await openOutage(t)
  contact.isUp = false
  const sessionId = caller.refreshToken.split('_')[1] ?? ''
  for (const change of [
    { kind: 'account', accountId: caller.id } as const,
    { kind: 'session', sessionId } as const,
  ]) {
    directory.apply({ change: { kind: 'account', accountId: 'other' }, position: 1, at: time.nowMs })
    directory.apply({ change, position: 2, at: time.nowMs })
    t.equal(await wordNow(bearer(caller.accessToken)), 'store-unavailable')
  }
})

t.test('nor one from before the first change that is known of', async (t) => {
  const { contact, caller, wordNow, time } = await openOutage(t)
  contact.isUp = false
  contact.completeSince = time.nowMs + 1
  t.equal(await wordNow(bearer(caller.accessToken)), 'store-unavailable')
})

t.test('what is known to be over stays over', async (t) => {
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

t.test('a token that is no good is refused whatever the store says', async (t) => {
  const { contact, caller, wordNow, time } = await openOutage(t)
  contact.isUp = false
  t.equal(await wordNow(bearer('a.b.c')), 'token-invalid')
  t.equal(await wordNow({ secretKey: 'gsk_x' }), 'secret-key-invalid')
  time.nowMs += 600_000
  t.equal(await wordNow(bearer(caller.accessToken)), 'token-expired')
})
