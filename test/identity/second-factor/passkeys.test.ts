import { generateKeyPairSync } from 'node:crypto'
import t, { type Test } from 'tap'
import type { PasskeyFlow } from '#identity/second-factor/passkey-check.ts'
import { passkeysMax } from '#identity/second-factor/passkeys.ts'
import { SecondFactorNeeded } from '#identity/second-factor/second-factors.ts'
import { relyingPartyOf } from '#identity/second-factor/webauthn.ts'
import { passkeysOf } from '#store/portal-access.ts'
import { createSoftAuthenticator, type Deviations } from '../../setup/soft-authenticator.ts'
import { listAudit } from '../../store/portal-samples.ts'
import { openPeople, password, relyingParty, visitor } from '../account-services.ts'

const browser = 'token of a form'

/** Somebody with a passkey. */
async function openOwner(t: Test, options: Parameters<typeof openPeople>[1] = {}) {
  const people = openPeople(t, options)
  const { signIn, acts, time, createPerson } = people
  const { passkeys } = signIn
  if (!passkeys) throw new Error('there are passkeys')
  const { id, email, signedIn } = await createPerson()
  const device = createSoftAuthenticator(relyingParty.origin)
  const current = () => acts.accounts.get(id)
  const flowOf = (purpose: PasskeyFlow['purpose']): PasskeyFlow => ({
    purpose,
    browser,
    accountId: purpose === 'sign-in' ? undefined : id,
  })

  async function add(authenticator = device, over: Deviations = {}, name = 'Laptop') {
    time.now += 1
    const account = await current()
    const flow = flowOf('add')
    const credential = authenticator.create(passkeys?.creationOptions(account, flow) ?? {}, over)
    return passkeys?.add(account, { credential, name, flow, visitor })
  }
  const ask = (flow = flowOf('sign-in')) => {
    time.now += 1
    return passkeys.requestOptions(flow)
  }
  const send = (credential: string, flow = flowOf('sign-in')) =>
    signIn.signInWithPasskey({ credential, flow, visitor, clientTokens: [] })
  const signInWith = (over: Deviations = {}) => send(device.get(ask(), over))
  const actions = async () =>
    (await listAudit(people.store, { before: undefined, limit: 50 })).map(({ action, details }) => ({
      action,
      ...details,
    }))

  return {
    ...people,
    passkeys,
    id,
    email,
    signedIn,
    device,
    current,
    flowOf,
    add,
    ask,
    send,
    signInWith,
    actions,
  }
}

const refused = { code: 'credentials-invalid' }
const refusedField = { code: 'request-invalid', errors: [{ field: 'credential' }] }

t.test(
  'a passkey signs in by itself, is the second factor of the password, and brings recovery codes',
  async (t) => {
    const { add, signInWith, email, signIn, ask, device, flowOf, id, actions } = await openOwner(t)
    t.equal((await add())?.length, 10)
    t.match(await signInWith(), { account: { email } })
    const needed = await signIn.signIn({ email, password }, visitor).catch((error: unknown) => error)
    if (!(needed instanceof SecondFactorNeeded)) return t.fail('the password alone signs in')
    const { pending } = needed
    t.match(await signIn.findPending(pending), { hasApp: false, hasPasskeys: true, account: { id } })
    const flow = flowOf('second-factor')
    const credential = device.get(ask(flow), { isUserVerified: false })
    const attempt = { pending, given: { credential, flow }, clientTokens: [] }
    t.match(
      await signIn.signInWithSecondFactor(attempt, visitor),
      { account: { email } },
      'without verifying the user',
    )
    await t.rejects(signIn.signInWithSecondFactor(attempt, visitor), refusedField, 'once')
    t.match(await actions(), [
      { action: 'sign-in-failed' },
      { action: 'signed-in' },
      { action: 'signed-in', passkey: 'Laptop' },
      { action: 'passkey-added', passkey: 'Laptop' },
    ])
  },
)

t.test('what is forged, of another origin, or not of this challenge signs nobody in', async (t) => {
  const { add, signInWith, send, ask, device, flowOf, time, passkeys, createPerson, acts } =
    await openOwner(t)
  await add()
  const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const forged: Readonly<Record<string, Deviations>> = {
    'another key': { key },
    'another origin': { origin: 'https://api.example.com.evil.example' },
    'another port': { origin: 'https://api.example.com:8443' },
    'without TLS': { origin: 'http://api.example.com' },
    'another relying party': { rpId: 'example.com' },
    'a new passkey': { type: 'webauthn.create' },
    'in a frame of another site': { crossOrigin: true },
    'a user who was not verified': { isUserVerified: false },
    'a user who was not there': { isUserPresent: false },
    'no user': { userHandle: undefined },
    'another user': { userHandle: Buffer.from('x'.repeat(16)).toString('base64url') },
    'a long user': { userHandle: Buffer.from('x'.repeat(65)).toString('base64url') },
    'another passkey': { id: 'x'.repeat(22) },
    'a long ID': { id: 'x'.repeat(1401) },
  }
  for (const [name, over] of Object.entries(forged)) await t.rejects(signInWith(over), refused, name)

  await t.rejects(send(device.get(ask(flowOf('second-factor')))), refused, 'a challenge of another flow')
  const elsewhere = { ...flowOf('sign-in'), browser: 'token of another form' }
  await t.rejects(send(device.get(ask(elsewhere))), refused, 'a challenge of another browser')
  await t.rejects(send(device.get({ ...ask(), challenge: 'made up' })), refused)
  for (const text of [
    '',
    '1',
    '[]',
    '{',
    '{}',
    '{"id":"a"}',
    '{"id":"a","response":null}',
    '"'.repeat(9_999),
  ])
    await t.rejects(send(text), refused, text.slice(0, 20))

  const late = device.get(ask())
  time.now += 5 * 60_000
  await t.rejects(send(late), refused, 'after five minutes')
  time.now -= 1
  t.ok(await send(late), 'just before')
  await t.rejects(send(late), refused, 'again')

  const bob = await createPerson({ email: 'bob@example.com' })
  const account = await acts.accounts.get(bob.id)
  const flow: PasskeyFlow = { ...flowOf('confirm'), accountId: bob.id }
  const given = { credential: device.get(passkeys.requestOptions(flow)), flow, visitor, client: undefined }
  await t.rejects(passkeys.check(account, given), refusedField, 'the passkey of somebody else')
})

t.test('a counter that goes back is refused, and the audit log tells', async (t) => {
  const { add, signInWith, actions, device } = await openOwner(t)
  await add(device, { counter: 3 })
  t.ok(await signInWith({ counter: 4 }))
  await t.rejects(signInWith({ counter: 4 }), refused)
  await t.rejects(signInWith({ counter: 0 }), refused)
  t.match(await actions(), [
    { action: 'sign-in-failed', reason: 'passkey-counter', passkey: 'Laptop', address: visitor.address },
    { action: 'sign-in-failed', reason: 'passkey-counter' },
    { action: 'signed-in' },
  ])
  t.ok(await signInWith({ counter: 9 }))
})

t.test('who is disabled, has no password, or removed the passkey is not signed in', async (t) => {
  const { add, signInWith, acts, id, passkeys, device, current, store } = await openOwner(t)
  await add()
  await acts.accounts.update(id, { isDisabled: true })
  await t.rejects(signInWith(), { code: 'account-disabled' })
  await acts.accounts.update(id, { isDisabled: false })
  t.ok(await signInWith())
  t.equal(await passkeys.remove(await current(), device.id, visitor), true)
  t.equal(await passkeys.remove(await current(), device.id, visitor), false)
  await t.rejects(signInWith(), refused)
  await add()
  t.ok(await signInWith())
  const keys = { secretKey: (await current()).secretKeys[0], apiKey: (await current()).apiKey }
  if (!keys.secretKey) return t.fail('there is a key')
  const identity = { issuer: 'https://id.example.com', subject: 's' }
  const proof = { kind: 'take-over', secretKey: keys.secretKey, apiKey: keys.apiKey } as const
  await store.linkIdentity(id, { identity, email: (await current()).email, proof })
  await t.rejects(signInWith(), refused, 'whoever takes the account over ends its passkeys')
})

t.test('a passkey that is removed while it signs in starts no session', async (t) => {
  const { add, device, ask, flowOf, store, current, signIn, passkeys, id } = await openOwner(t)
  await add()
  const given = { credential: device.get(ask()), flow: flowOf('sign-in'), visitor }
  const start = store.startPortalSession
  store.startPortalSession = async (...started) => {
    store.startPortalSession = start
    await passkeys.remove(await current(), device.id, visitor)
    return start(...started)
  }
  await t.rejects(signIn.signInWithPasskey({ ...given, clientTokens: [] }), refused)

  await add()
  const early = { credential: device.get(ask()), flow: flowOf('sign-in'), visitor }
  const { usePasskey } = store
  Object.assign(store, {
    usePasskey: async (...use: Parameters<typeof usePasskey>) => {
      const used = await usePasskey(...use)
      await passkeys.remove(await current(), device.id, visitor)
      return used
    },
  })
  await t.rejects(signIn.signInWithPasskey({ ...early, clientTokens: [] }), refused, 'as soon as it is used')
  t.strictSame(await store.listPortalSessions(id, 0).then((all) => all.length), 1, 'only the one of before')
})

t.test('a password that is changed while the passkey after it is checked starts no session', async (t) => {
  const { add, device, ask, flowOf, store, signIn, email, id } = await openOwner(t)
  await add()
  const needed = await signIn.signIn({ email, password }, visitor).catch((error: unknown) => error)
  if (!(needed instanceof SecondFactorNeeded)) return t.fail('the password alone signs in')
  const flow = flowOf('second-factor')
  const given = { credential: device.get(ask(flow)), flow }
  const { usePasskey } = store
  Object.assign(store, {
    usePasskey: async (...use: Parameters<typeof usePasskey>) => {
      const used = await usePasskey(...use)
      await store.setPassword(id, { password: 'hashed', proof: undefined, endsSessions: true })
      return used
    },
  })
  await t.rejects(
    signIn.signInWithSecondFactor({ pending: needed.pending, given, clientTokens: [] }, visitor),
    refused,
  )
  t.strictSame(await store.listPortalSessions(id, 0), [])
})

t.test('what names its maker, uses another algorithm or says something else is not added', async (t) => {
  const { add, device, current } = await openOwner(t)
  const wrong: readonly Deviations[] = [
    { origin: 'https://evil.example' },
    { rpId: 'evil.example' },
    { type: 'webauthn.get' },
    { isUserPresent: false },
    { crossOrigin: true },
    { id: 'x'.repeat(22) },
    { attestation: { fmt: 'none', attStmt: new Map([['x5c', [Buffer.from('certificate')]]]) } },
    { attestation: { fmt: 'packed', attStmt: new Map([['x5c', [Buffer.from('certificate')]]]) } },
    { attestation: { fmt: 'tpm', attStmt: new Map() } },
    { attestation: { fmt: 'packed', attStmt: new Map<string, never>() } },
  ]
  for (const over of wrong) await t.rejects(add(device, over), refusedField, JSON.stringify(over))
  for (const name of ['', 'x'.repeat(61), 'a\u202eb', 'a\nb', '\ud800'])
    await t.rejects(add(device, {}, name), { code: 'request-invalid', errors: [{ field: 'name' }] })
  t.ok(await add(device, {}, 'x'.repeat(60)))
  t.match(
    passkeysOf((await current()).portal),
    [{ transports: ['internal'] }],
    'only known transports are kept',
  )
  await t.rejects(add(), refusedField, 'it is there already')
})

t.test(`an account has ${passkeysMax} passkeys at most, and recovery codes from the first`, async (t) => {
  const { add, current } = await openOwner(t)
  const addNew = () => add(createSoftAuthenticator(relyingParty.origin))
  t.ok(await addNew())
  while (passkeysOf((await current()).portal).length < passkeysMax) t.equal(await addNew(), undefined)
  await t.rejects(addNew(), { errors: [{ message: /at most 10 passkeys/ }] }, 'one over')
  await t.rejects(Promise.all([addNew(), addNew(), addNew()]), 'more over')
  t.equal(passkeysOf((await current()).portal).length, passkeysMax)
})

t.test('an answer to add a passkey adds it once, also after it was removed', async (t) => {
  const { passkeys, device, current, flowOf } = await openOwner(t)
  const flow = flowOf('add')
  const account = await current()
  const credential = device.create(passkeys.creationOptions(account, flow))
  const given = { credential, name: 'Laptop', flow, visitor }
  const other = { ...flow, browser: 'token of another form' }
  await t.rejects(passkeys.add(account, { ...given, flow: other }), refusedField)
  t.ok(await passkeys.add(account, given))
  await t.rejects(passkeys.add(account, given), refusedField)
  await passkeys.remove(await current(), device.id, visitor)
  await t.rejects(passkeys.add(account, given), refusedField)
})

t.test('wrong passkeys count for an address, and after a password like wrong passwords', async (t) => {
  const failureLimit = 4
  const { add, signInWith, current, passkeys, device, ask, flowOf, store, id } = await openOwner(t, {
    failureLimit,
  })
  await add()
  const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  for (let count = 0; count < failureLimit; count++) await t.rejects(signInWith({ key }), refused)
  await t.rejects(signInWith({ key }), { code: 'too-many-failures' })
  await t.rejects(signInWith({ key }), { code: 'too-many-failures' }, 'far over')
  t.ok(await signInWith(), 'a right one is never refused because of wrong ones')

  for (let count = 0; count < 80; count++) await store.countPasswordAttempt(id, undefined)
  t.ok(await signInWith(), 'nor because of wrong passwords')
  const flow = flowOf('second-factor')
  const given = { credential: device.get(ask(flow)), flow, visitor, client: undefined }
  await t.rejects(passkeys.check(await current(), given), { code: 'too-many-failures' })
})

t.test('browsers of one network may try to sign in 120 times a minute', async (t) => {
  const { send } = await openOwner(t)
  for (let count = 0; count < 120; count++) await send('').catch(() => {})
  await t.rejects(send(''), { code: 'rate-limited' })
})

t.test(
  'a passkey is renamed by its owner, and goes with all of a second factor that an Admin resets',
  async (t) => {
    const { add, passkeys, current, device, acts, id, signInWith, actions } = await openOwner(t)
    await add()
    t.equal(await passkeys.rename(await current(), { id: device.id, to: 'Phone' }, visitor), true)
    t.equal(await passkeys.rename(await current(), { id: 'other', to: 'Phone' }, visitor), false)
    await t.rejects(passkeys.rename(await current(), { id: device.id, to: '' }, visitor), {
      errors: [{ field: 'to' }],
    })
    t.match(passkeysOf((await current()).portal), [{ name: 'Phone' }])
    t.match((await actions())[0], { action: 'passkey-renamed', passkey: 'Laptop', to: 'Phone' })
    t.equal(await acts.resetSecondFactor(id), true)
    t.equal((await current()).portal.secondFactor, undefined)
    await t.rejects(signInWith(), refused)
  },
)

t.test('there are passkeys where browsers have them: at a name, with TLS or on this machine', async (t) => {
  const idAt = (origin: string) => relyingPartyOf(origin, 'Gatehouse')?.id
  t.equal(idAt('https://portal.example.com:8443'), 'portal.example.com')
  t.equal(idAt('http://localhost:8080'), 'localhost')
  t.equal(idAt('http://gate.localhost'), 'gate.localhost')
  for (const origin of [
    'http://portal.example.com',
    'https://192.0.2.1',
    'http://127.0.0.1:8080',
    'https://[::1]',
  ])
    t.equal(idAt(origin), undefined, origin)
})
