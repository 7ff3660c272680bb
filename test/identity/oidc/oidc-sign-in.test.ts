import t, { type Test } from 'tap'
import { openRateLimiter } from '#identity/limits/rate-limiter.ts'
import { createOidcSignIn } from '#identity/oidc/oidc-sign-in.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import { lifetimeMs, openPeople, visitor } from '../account-services.ts'

const identity = { issuer: 'https://id.example.com', subject: 'ada' }

/** Somebody with a password and a session, who authenticates at a provider. */
async function start(t: Test) {
  const { store, time, sessions, knownClients, acts, actsOf, createPerson } = openPeople(t)
  const clock = () => time.now
  const limiter = openRateLimiter({
    store,
    storeConnection: { isUp: false },
    monotonic: clock,
    onStoreFailure: () => {},
  })
  t.teardown(limiter.close)
  const keyOptions = { sealer: createSealer(Buffer.alloc(32, 2)), reveal: false, prefix: 'gate', clock }
  const parties = { store, sessions, knownClients, actionsOf: actsOf, limiter, clock }
  const oidc = createOidcSignIn({ ...parties, keyOptions, provision: undefined, label: 'Example' })
  const { id, email, signedIn } = await createPerson()
  const person = { identity, email, isEmailVerified: true, firstName: 'Ada', lastName: '' }
  const session = { accountId: id, sessionId: signedIn.session.id }
  return { store, time, acts, oidc, createPerson, id, person, session }
}

const refused = { code: 'sign-in-refused' }

t.test('the owner of a session is linked by authenticating, while the session is open', async (t) => {
  const { store, time, oidc, id, person, session } = await start(t)
  const begunAt = time.now
  const linkOf = async () => (await store.findAccount(id))?.portal.identities[0]
  time.now = begunAt + lifetimeMs
  await t.rejects(oidc.assertOwner(person, session, visitor), refused, 'it has expired')
  time.now = begunAt + lifetimeMs - 1
  const another = { ...session, sessionId: 'x'.repeat(22) }
  await t.rejects(oidc.assertOwner(person, another, visitor), refused, 'no such session')
  const others = { ...person, email: 'eve@example.com' }
  await t.rejects(oidc.assertOwner(others, session, visitor), refused, 'of another e-mail')
  const unverified = { ...person, isEmailVerified: false }
  await t.rejects(oidc.assertOwner(unverified, session, visitor), refused, 'not verified')
  t.equal(await linkOf(), undefined)
  await t.resolves(oidc.assertOwner(person, session, visitor))
  t.match(await linkOf(), identity)
  time.now = begunAt + 10 * lifetimeMs
  await t.resolves(oidc.assertOwner(person, session, visitor), 'from then on the link is enough')
})

t.test('the end of all portal sessions ends the right to be linked', async (t) => {
  const { store, oidc, id, person, session } = await start(t)
  await store.endPortalSessions(id)
  await t.rejects(oidc.assertOwner(person, session, visitor), refused)
  t.equal((await store.findAccount(id))?.portal.identities.length, 0)
})

t.test(
  'a person who is linked with an account is the owner of no other, and signs in to that one',
  async (t) => {
    const { store, oidc, createPerson, person, session } = await start(t)
    const bob = await createPerson({ email: 'bob@example.com' })
    const link = { identity, email: bob.email, proof: { kind: 'session' } } as const
    t.equal(await store.linkIdentity(bob.id, link), 'linked')
    await t.rejects(oidc.assertOwner(person, session, visitor), refused)
    t.match(await oidc.signIn(person, [], visitor), { account: { id: bob.id } })
  },
)

t.test('an e-mail that the provider has not verified signs in to no account', async (t) => {
  const { store, acts, oidc, person } = await start(t)
  const input = { email: 'kim@example.com', firstName: '', lastName: '', role: 'User', isVerified: true }
  const { account } = await acts.accounts.create(input)
  const kim = { ...person, email: account.email }
  for (const unproven of [
    { ...kim, isEmailVerified: false },
    { ...kim, email: undefined },
  ])
    await t.rejects(oidc.signIn(unproven, [], visitor), refused)
  t.equal((await store.findAccount(account.id))?.portal.identities.length, 0)
  t.match(await oidc.signIn(kim, [], visitor), { account: { id: account.id } })
})

t.test('an account that is disabled is not taken over: its keys stay as they were', async (t) => {
  const { store, acts, oidc, id, person } = await start(t)
  await acts.accounts.update(id, { isDisabled: true })
  const before = await store.findAccount(id)
  await t.rejects(oidc.takeOver(person, [], visitor), { code: 'account-disabled', accountId: id })
  t.strictSame(await store.findAccount(id), before)
})

t.test('an account that is taken over has none of its keys, sessions and passwords left', async (t) => {
  const { store, oidc, id, person, session } = await start(t)
  const before = await store.findAccount(id)
  const { account } = await oidc.takeOver(person, [], visitor)
  t.equal(account.id, id)
  const after = await store.findAccount(id)
  t.match(after?.portal, { identities: [identity], password: undefined, secondFactor: undefined })
  t.notSame(after?.apiKey.digest, before?.apiKey.digest)
  t.notSame(after?.secretKeys[0]?.digest, before?.secretKeys[0]?.digest)
  t.equal(after?.sessionEpoch, (before?.sessionEpoch ?? 0) + 1)
  const found = await store.findPortalSession(id, session.sessionId)
  t.not(found?.epoch, after?.portal.epoch, 'the portal session is over')
})
