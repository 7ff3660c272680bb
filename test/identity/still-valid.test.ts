import t from 'tap'
import { admittedUntil } from '#identity/admitted-until.ts'
import type { Principal } from '#identity/decision.ts'
import { roleEpochIn } from '#identity/tokens/access-token-claims.ts'
import { signingKeyIdOf } from '#identity/tokens/jwt.ts'
import { parseKey } from '#platform/secrets/keys.ts'
import { visitor } from '../store/samples.ts'
import { accessOf, openBench } from './auth-harness.ts'
import { newSigningKey } from './tokens/forged-tokens.ts'

const bench = await openBench(t)
const { store, accounts, keys, sessions, directory, keyring, decide, newCaller, contact, time } = bench
const access = accessOf('any')
/** Of every client. */
const address = '192.0.2.1'

/** A caller who was let in with a key and with a token, and whether either would still be. */
async function admit(accessNow = access) {
  const caller = await newCaller()
  const principals = await Promise.all(
    [{ secretKey: caller.secretKey }, { authorization: `Bearer ${caller.accessToken}` }].map(
      async (credentials) => {
        const decision = await decide('any', credentials)
        if (decision.kind !== 'allowed' || !decision.principal) throw new Error('was not let in')
        return decision.principal
      },
    ),
  )
  const digests = [parseKey('secretKey', caller.secretKey)?.digest, undefined]
  const signers = [undefined, signingKeyIdOf(caller.accessToken)]
  const roleEpochs = [undefined, roleEpochIn(caller.accessToken)]
  const until = () =>
    Promise.all(
      principals.map((principal, index) =>
        admittedUntil(
          {
            principal,
            access: accessNow,
            address,
            keyDigest: digests[index],
            signedBy: signers[index],
            roleEpoch: roleEpochs[index],
          },
          { directory, keyring, hasIssuer: () => false },
          time.nowMs,
        ),
      ),
    )
  const stillValid = async () => (await until()).map((end) => end > 0)
  return { caller, until, stillValid }
}

/** A caller with a token of a session that a sign-in to the portal has started, and until when it would be let in. */
async function admitFromPortal({ newCaller, decide, directory, keyring, newPortalToken } = bench) {
  const { account } = await newCaller()
  const accessToken = await newPortalToken(account)
  const decision = await decide('any', { authorization: `Bearer ${accessToken}` })
  if (decision.kind !== 'allowed' || !decision.principal) throw new Error('was not let in')
  const { principal } = decision
  const signedBy = signingKeyIdOf(accessToken)
  const roleEpoch = roleEpochIn(accessToken)
  const caller = { principal, access, address, keyDigest: undefined, signedBy, roleEpoch }
  const admittedWith = () => admittedUntil(caller, { directory, keyring, hasIssuer: () => false }, time.nowMs)
  return { account, admittedWith }
}

t.test('a connection stays valid while nothing ends its credential', async (t) => {
  const { caller, stillValid } = await admit()
  t.strictSame(await stillValid(), [true, true])
  await accounts.update(caller.id, { firstName: 'Eve' })
  await sessions.refresh(caller.refreshToken, visitor)
  t.strictSame(await stillValid(), [true, true], 'neither a new name nor a refresh does')
})

for (const [what, end] of [
  ['another role', (id: string) => accounts.update(id, { role: 'Admin' })],
  ['disabling', (id: string) => accounts.update(id, { isDisabled: true })],
  ['deletion', (id: string) => accounts.remove(id)],
  ['a reset without overlap', (id: string) => keys.resetSecretKey(id, 0)],
] as const) {
  t.test(`${what} ends connections of the key and of tokens`, async (t) => {
    const { caller, stillValid } = await admit()
    await end(caller.id)
    t.strictSame(await stillValid(), [false, false])
  })
}

t.test('a role changed there and back ends connections of tokens', async (t) => {
  const { caller, stillValid } = await admit()
  await accounts.update(caller.id, { role: 'Admin' })
  await accounts.update(caller.id, { role: 'User' })
  t.strictSame(await stillValid(), [true, false])
})

t.test('a reset with an overlap ends connections of the key after it, not of tokens', async (t) => {
  const { caller, until, stillValid } = await admit()
  await keys.resetSecretKey(caller.id, 60)
  t.strictSame(await until(), [time.nowMs + 60_000, Number.POSITIVE_INFINITY])
  time.nowMs += 60_000
  t.strictSame(await stillValid(), [false, true])
})

t.test('the end of a session ends only connections of its tokens', async (t) => {
  const { caller, stillValid } = await admit()
  await sessions.revoke(caller.refreshToken)
  t.strictSame(await stillValid(), [true, false])
})

t.test('an account that is enabled again has its keys back, not the sessions of before', async (t) => {
  const { caller, stillValid } = await admit()
  await accounts.update(caller.id, { isDisabled: true })
  await accounts.update(caller.id, { isDisabled: false })
  t.strictSame(await stillValid(), [true, false])
})

t.test('the end of all portal sessions ends connections of their tokens', async (t) => {
  const { account, admittedWith } = await admitFromPortal()
  t.equal(await admittedWith(), Number.POSITIVE_INFINITY)
  await store.endPortalSessions(account.id)
  t.equal(await admittedWith(), 0)
})

t.test('a second factor that is required ends connections of a session without it', async (t) => {
  const strict = await openBench(t, { requireSecondFactor: 'everybody' })
  const { account, admittedWith } = await admitFromPortal(strict)
  t.equal(await admittedWith(), Number.POSITIVE_INFINITY, 'whoever has no password signs in elsewhere')
  await strict.store.setPassword(account.id, { password: 'hashed', proof: undefined, endsSessions: false })
  t.equal(await admittedWith(), 0)
})

t.test('a principal of an issuer stays until it is blocked, or the issuer is removed', async (t) => {
  const principal: Principal = {
    accountId: 'corp:ada',
    role: 'User',
    scheme: 'bearer',
    sessionId: undefined,
    key: undefined,
    scopes: [],
    addresses: [],
    quota: undefined,
    plan: undefined,
    profile: undefined,
    issuer: 'corp',
  }
  const names = new Set(['corp'])
  const state = { directory, keyring, hasIssuer: (name: string) => names.has(name) }
  const unbound = { keyDigest: undefined, signedBy: undefined, roleEpoch: undefined }
  const caller = { principal, access, address, ...unbound }
  const until = () => admittedUntil(caller, state, time.nowMs)
  t.equal(await until(), Number.POSITIVE_INFINITY)
  names.clear()
  t.equal(await until(), 0, 'the issuer is removed')
  names.add('corp')
  await store.blockSubject({ principalId: 'corp:ada', blockedAt: time.nowMs })
  await directory.confirm()
  t.equal(await until(), 0, 'it is blocked')
})

t.test('an account no longer verified loses connections on verifiedOnly routes', async (t) => {
  const { caller, stillValid } = await admit(accessOf('any', { verifiedOnly: true }))
  await accounts.update(caller.id, { isVerified: false })
  t.strictSame(await stillValid(), [false, false])
})

t.test('with the store down the validity of a changed account is undecided', async (t) => {
  const { caller, stillValid } = await admit()
  contact.isUp = false
  directory.apply({ change: { kind: 'account', accountId: caller.id }, position: 1, at: time.nowMs })
  await t.rejects(stillValid(), { code: 'store-unavailable' })
  contact.isUp = true
})

t.test('a retired signing key ends only connections of its tokens', async (t) => {
  const { stillValid } = await admit()
  const known = ['key'].map((kid) => keyring.find(kid)).filter((key) => key !== undefined)
  keyring.replace([...known, newSigningKey('next')])
  t.strictSame(await stillValid(), [true, true], 'another beside it ends nothing')
  keyring.replace([newSigningKey('next')])
  t.strictSame(await stillValid(), [true, false])
  keyring.replace(known)
})

t.test('a key that has been limited since loses the connections that it would not open now', async (t) => {
  const { id, secretKey } = await newCaller()
  const keyDigest = parseKey('secretKey', secretKey)?.digest
  const account = await directory.account(id)
  const [key] = account?.keys ?? []
  if (!account || !key) throw new Error('no such account')
  const untilWith = (limits: Partial<Principal>, scopes?: readonly string[]) => {
    const limited = { ...account, keys: [{ ...key, principal: { ...key.principal, ...limits } }] }
    const caller = {
      principal: { ...key.principal, ...(scopes && { scopes }) },
      access: accessOf('any', scopes && { scopes }),
      ...{ address, keyDigest, signedBy: undefined, roleEpoch: undefined },
    }
    const state = { directory: { ...directory, account: () => limited }, keyring, hasIssuer: () => false }
    return admittedUntil(caller, state, time.nowMs)
  }
  const open = Number.POSITIVE_INFINITY
  t.equal(await untilWith({ scopes: ['a', 'c'] }, ['a']), open)
  t.equal(await untilWith({ scopes: ['b'] }, ['a']), 0, 'it has another scope')
  t.equal(await untilWith({ scopes: ['b'] }), 0, 'it was not limited, and the route names no scopes')
  t.equal(await untilWith({ scopes: [] }, ['a']), open, 'it is limited no more')
  t.equal(await untilWith({ addresses: ['192.0.2.0/24'] }), open)
  t.equal(await untilWith({ addresses: ['198.51.100.0/24'] }), 0, 'it is accepted from elsewhere')
})
