import t from 'tap'
import { withoutPasswords } from '#identity/portal/sign-in.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createPasswords } from '#platform/secrets/passwords.ts'
import { tamper } from '../../setup/tamper.ts'
import { listAudit } from '../../store/portal-samples.ts'
import { lifetimeMs, openPeople, password, visitor } from '../account-services.ts'

t.test('a set-up link sets a password and signs in, and the password signs in afterwards', async (t) => {
  const { signIn, createPerson } = openPeople(t)
  const { id, email, signedIn } = await createPerson()
  t.match(await signIn.find(signedIn.token, visitor), { account: { id }, session: { accountId: id } })
  const again = await signIn.signIn({ email: email.toUpperCase(), password }, visitor)
  t.not(again.token, signedIn.token)
  t.match(await signIn.find(again.token, visitor), { account: { id } })
})

t.test('only the last set-up link works, once, until it expires', async (t) => {
  const { signIn, acts, time, createPerson } = openPeople(t)
  const { id } = await createPerson()
  const redeem = (token: string) => signIn.redeemLink({ token, password: 'another password' }, visitor)
  const first = await acts.setupLinks.create(id)
  const second = await acts.setupLinks.create(id)
  t.equal(second.url, `https://api.example.com/portal/setup#${second.token}`)
  await t.rejects(redeem(first.token), { code: 'link-invalid' }, 'replaced')
  await t.rejects(
    signIn.redeemLink({ token: second.token, password: 'short' }, visitor),
    { code: 'request-invalid' },
    'a bad password does not use it up',
  )
  await redeem(second.token)
  await t.rejects(redeem(second.token), { code: 'link-invalid' }, 'used')
  const late = await acts.setupLinks.create(id)
  time.now = late.expiresAt
  await t.rejects(redeem(late.token), { code: 'link-invalid' }, 'too old')
  time.now = late.expiresAt - 1
  await redeem(late.token)
  for (const token of [
    '',
    'x',
    late.token.replace('gsl_', 'gev_'),
    `${late.token}x`,
    `gsl_${id}_${'a'.repeat(43)}`,
  ]) {
    await t.rejects(redeem(token), { code: 'link-invalid' }, token)
  }
})

t.test('of simultaneous uses of one set-up link exactly one signs in', async (t) => {
  const { signIn, acts, createPerson } = openPeople(t)
  const { id } = await createPerson()
  const { token } = await acts.setupLinks.create(id)
  const attempts = await Promise.allSettled(
    Array.from({ length: 6 }, (_, index) =>
      signIn.redeemLink({ token, password: `password number ${index}` }, visitor),
    ),
  )
  t.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 1)
})

t.test('unknown e-mail, wrong password and no password give the same answer', async (t) => {
  const { signIn, acts, createPerson } = openPeople(t)
  const { email } = await createPerson()
  const bare = { firstName: '', lastName: '', role: 'User', isVerified: false }
  await acts.accounts.create({ email: 'bare@example.com', ...bare })
  const answers = new Set<string>()
  for (const attempt of [
    { email, password: 'wrong' },
    { email, password: '' },
    { email: 'nobody@example.com', password },
    { email: 'bare@example.com', password },
    { email: 'bare@example.com', password: '' },
    { email: '', password },
    { email: 'x'.repeat(10_000), password: 'y'.repeat(10_000) },
  ]) {
    const error = await signIn.signIn(attempt, visitor).catch((error: unknown) => error)
    t.match(error, { code: 'credentials-invalid' })
    answers.add(error instanceof Error ? error.message : '')
  }
  t.equal(answers.size, 1)
})

t.test('a disabled account is named only to its right password, and its sessions end', async (t) => {
  const { signIn, sessions, acts, createPerson } = openPeople(t)
  const { id, email, signedIn } = await createPerson()
  const { token } = await acts.setupLinks.create(id)
  await acts.accounts.update(id, { isDisabled: true })
  t.equal(await signIn.find(signedIn.token, visitor), undefined)
  await t.rejects(signIn.signIn({ email, password }, visitor), { code: 'account-disabled' })
  await t.rejects(signIn.signIn({ email, password: 'wrong' }, visitor), { code: 'credentials-invalid' })
  await t.rejects(signIn.redeemLink({ token, password }, visitor), { code: 'link-invalid' })
  const late = await acts.setupLinks.create(id)
  const named = { code: 'account-disabled', accountId: id }
  await t.rejects(signIn.links.check(late.token), named, 'the log can name it')
  await t.rejects(sessions.start(await acts.accounts.get(id), visitor), named, 'the log can name it')
  await acts.accounts.update(id, { isDisabled: false })
  t.equal(await signIn.find(signedIn.token, visitor), undefined, 'enabling brings none back')
  t.match(await signIn.signIn({ email, password }, visitor), { account: { id } })
})

t.test('a portal session ends exactly with its lifetime, and only its token finds it', async (t) => {
  const { signIn, time, createPerson } = openPeople(t)
  const { signedIn } = await createPerson()
  const { token, session } = signedIn
  t.equal(session.expiresAt, session.createdAt + lifetimeMs)
  for (const wrong of ['', 'x', `${token}x`, tamper(token)]) {
    t.equal(await signIn.find(wrong, visitor), undefined, wrong)
  }
  time.now = session.expiresAt - 1
  t.ok(await signIn.find(token, visitor))
  time.now = session.expiresAt
  t.equal(await signIn.find(token, visitor), undefined)
})

t.test("a portal session's last use is recorded once a minute", async (t) => {
  const { signIn, acts, time, createPerson } = openPeople(t)
  const { id, signedIn } = await createPerson()
  const elsewhere = { address: '203.0.113.9', userAgent: 'Phone/2' }
  const started = time.now
  time.now += 59_999
  await signIn.find(signedIn.token, elsewhere)
  t.match(await acts.sessions.listPortal(id), [{ seenAt: started, ...visitor }])
  time.now += 1
  await signIn.find(signedIn.token, elsewhere)
  t.match(await acts.sessions.listPortal(id), [{ seenAt: started + 60_000, ...elsewhere }])
})

t.test('signing out ends one portal session, signing out everywhere all', async (t) => {
  const { signIn, createPerson } = openPeople(t)
  const { email, signedIn: first } = await createPerson()
  const second = await signIn.signIn({ email, password }, visitor)
  const third = await signIn.signIn({ email, password }, visitor)
  const isIn = async ({ token }: { token: string }) => (await signIn.find(token, visitor)) !== undefined
  await signIn.signOut(first, visitor)
  t.strictSame([await isIn(first), await isIn(second), await isIn(third)], [false, true, true])
  await signIn.signOutEverywhere(second, visitor)
  t.strictSame([await isIn(second), await isIn(third)], [false, false])
})

t.test('a new password needs the current one, and ends all other portal sessions', async (t) => {
  const { signIn, createPerson } = openPeople(t)
  const { email, signedIn } = await createPerson()
  const other = await signIn.signIn({ email, password }, visitor)
  const next = 'a whole new password'
  const change = (current: string, wanted = next) =>
    signIn.changePassword(signedIn, { current, password: wanted }, visitor)
  await t.rejects(change('wrong'), { code: 'credentials-invalid' })
  await t.rejects(change(password, 'short'), { code: 'request-invalid', errors: [{ field: 'password' }] })
  const changed = await change(password)
  t.equal(await signIn.find(signedIn.token, visitor), undefined)
  t.equal(await signIn.find(other.token, visitor), undefined)
  t.ok(await signIn.find(changed.token, visitor))
  await t.rejects(signIn.signIn({ email, password }, visitor), { code: 'credentials-invalid' })
  await t.resolves(signIn.signIn({ email, password: next }, visitor))
})

t.test('a password with outdated parameters is rehashed at sign-in, and sessions stay', async (t) => {
  const { signIn, store, pepper, createPerson } = openPeople(t)
  const { id, email, signedIn } = await createPerson()
  const old = createPasswords({ pepper, parameters: { memoryKiB: 32, passes: 1, parallelism: 1 } })
  const outdated = await old.hash(password, { client: 'a', network: 'a', isKnown: true })
  await store.setPassword(id, { password: outdated, proof: undefined, endsSessions: false })
  await signIn.signIn({ email, password }, visitor)
  const stored = (await store.findAccount(id))?.portal.password
  t.match(stored, /^\$argon2id\$v=19\$m=64,/)
  t.ok(await signIn.find(signedIn.token, visitor))
  await t.resolves(signIn.signIn({ email, password }, visitor))
})

t.test('a password replaced while it is rehashed signs nobody in', async (t) => {
  const { signIn, store, pepper, meanwhile, createPerson } = openPeople(t)
  const { id, email } = await createPerson()
  const old = createPasswords({ pepper, parameters: { memoryKiB: 32, passes: 1, parallelism: 1 } })
  const replaceBy = async (next: string) => {
    const hashed = await old.hash(next, { client: 'a', network: 'a', isKnown: true })
    await store.setPassword(id, { password: hashed, proof: undefined, endsSessions: true })
  }
  await replaceBy(password)
  meanwhile.afterHash = () => replaceBy('a whole new password')
  await t.rejects(signIn.signIn({ email, password }, visitor), { code: 'credentials-invalid' })
  meanwhile.afterHash = async () => {}
  await t.resolves(signIn.signIn({ email, password: 'a whole new password' }, visitor))
})

t.test('a proof that was replaced meanwhile signs nobody in, whatever else has changed', async (t) => {
  const { store, sessions, acts, createPerson } = openPeople(t)
  const { id, email } = await createPerson()
  const identity = { issuer: 'https://id.example.com', subject: 'ada' }
  const changes: readonly (readonly [what: string, change: () => Promise<unknown>, outcome: string])[] = [
    ['a name', () => acts.accounts.update(id, { firstName: 'Eve' }), 'in'],
    [
      'the password',
      () => store.setPassword(id, { password: 'another', proof: undefined, endsSessions: false }),
      'credentials-invalid',
    ],
    [
      'a link',
      () => store.linkIdentity(id, { identity, email, proof: { kind: 'session' } }),
      'credentials-invalid',
    ],
    ['the end of the link', () => store.unlinkIdentities(id), 'credentials-invalid'],
    ['disabling', () => acts.accounts.update(id, { isDisabled: true }), 'account-disabled'],
  ]
  for (const [what, change, expected] of changes) {
    const before = await acts.accounts.get(id)
    await change()
    const outcome = await sessions.start(before, visitor).then(
      () => 'in',
      (error: unknown) => (error instanceof GatehouseError ? error.code : 'failed'),
    )
    t.equal(outcome, expected, what)
  }
})

t.test('simultaneous sign-ins with an outdated password hash all succeed', async (t) => {
  const { signIn, store, pepper, createPerson } = openPeople(t)
  const { id, email } = await createPerson()
  const old = createPasswords({ pepper, parameters: { memoryKiB: 32, passes: 1, parallelism: 1 } })
  const outdated = await old.hash(password, { client: 'a', network: 'a', isKnown: true })
  await store.setPassword(id, { password: outdated, proof: undefined, endsSessions: true })
  const attempts = await Promise.all([1, 2, 3].map(() => signIn.signIn({ email, password }, visitor)))
  for (const { token } of attempts) t.ok(await signIn.find(token, visitor))
})

t.test("every sign-in and sign-out is in the audit log, under the account's name", async (t) => {
  const { signIn, store, createPerson } = openPeople(t)
  const { id, email, signedIn } = await createPerson()
  const change = { current: password, password: 'a whole new password' }
  const changed = await signIn.changePassword(signedIn, change, visitor)
  await signIn.signOut(changed, visitor)
  const entries = (await listAudit(store, { before: undefined, limit: 100 })).toReversed()
  t.strictSame(
    entries.map(({ action }) => action),
    [
      'account-created',
      'setup-link-created',
      'password-set',
      'signed-in',
      'password-changed',
      'signed-in',
      'signed-out',
    ],
  )
  const actor = { kind: 'account', channel: 'portal', id, email, address: visitor.address }
  for (const entry of entries.slice(2)) t.match(entry, { actor, target: { id, email } })
})

t.test('where passwords are not accepted none signs in, confirms or can be set', async (t) => {
  const { signIn: withThem, acts, store, createPerson } = openPeople(t)
  const { id, email, signedIn } = await createPerson()
  const { token } = await acts.setupLinks.create(id)
  const resets = { canSend: true, linkLifetimeMs: 1, request: async () => {} }
  const { signIn, passwordResets } = withoutPasswords({ signIn: withThem, passwordResets: resets }, 'Example')
  const before = await store.findAccount(id)
  const attempts: readonly (readonly [what: string, attempt: () => Promise<unknown>])[] = [
    ['the right password', () => signIn.signIn({ email, password }, visitor)],
    ['a code', () => signIn.signInWithSecondFactor({ pending: '', given: '', clientTokens: [] }, visitor)],
    ['a link, looked at', () => signIn.links.check(token)],
    ['a link, used', () => signIn.redeemLink({ token, password: 'another password' }, visitor)],
    ['the password again', () => signIn.confirm(signedIn, password, visitor)],
    [
      'another password',
      () => signIn.changePassword(signedIn, { current: password, password: 'another password' }, visitor),
    ],
    ['a forgotten password', () => passwordResets.request(email, visitor)],
  ]
  for (const [what, attempt] of attempts)
    await t.rejects(attempt(), { code: 'sign-in-refused', detail: /sign in with Example/ }, what)
  t.equal(passwordResets.canSend, false)
  t.strictSame(await store.findAccount(id), before, 'nothing is counted, or used up')
  t.match(await signIn.find(signedIn.token, visitor), { account: { id } }, 'who is signed in stays so')
})
