import t, { type Test } from 'tap'
import type { Mail } from '#accounts/mails/mail.ts'
import { openOutbox } from '#accounts/mails/outbox.ts'
import { openRateLimiter } from '#identity/limits/rate-limiter.ts'
import { createPasswordResets } from '#identity/passwords/password-links.ts'
import { listAudit } from '../../store/portal-samples.ts'
import { openPeople, password, visitor } from '../account-services.ts'

const hourMs = 3_600_000
const next = 'another good password'

/** People who forget their passwords, before a mail server that takes everything. */
function openResets(t: Test, { canMail = true } = {}) {
  const people = openPeople(t)
  const { store, time } = people
  const mails: Mail[] = []
  const clock = () => time.now
  const limiter = openRateLimiter({
    store,
    storeConnection: { isUp: true },
    monotonic: clock,
    onStoreFailure: () => {},
  })
  t.teardown(() => limiter.close())
  const failures: unknown[] = []
  const asked: string[] = []
  const outbox = openOutbox({ onFailure: (error) => failures.push(error) })
  const resets = createPasswordResets({
    store: {
      ...store,
      findAccountByEmail: (email) => {
        asked.push(email)
        return store.findAccountByEmail(email)
      },
    },
    limiter,
    outbox,
    clock,
    linkLifetimeMs: hourMs,
    portalUrl: 'https://api.example.com/portal',
    sendMail: canMail ? async (mail) => void mails.push(mail) : undefined,
  })
  /** Asks, and waits for what is done in the background. */
  async function request(email: string, address = visitor.address) {
    await resets.request(email, { ...visitor, address })
    await outbox.close(60_000)
  }
  const lastToken = () => /setup#(gpr_\w+)/.exec(mails.at(-1)?.text ?? '')?.[1] ?? ''
  const redeem = (token: string) => people.signIn.redeemLink({ token, password: next }, visitor)
  return { ...people, resets, mails, failures, asked, request, lastToken, redeem }
}

t.test('a forgotten password is replaced once, by a link that says how long it works', async (t) => {
  const { signIn, createPerson, request, mails, lastToken, redeem, time, store } = openResets(t)
  const { email, signedIn } = await createPerson()
  await request(`  ${email.toUpperCase()}`.trim())
  t.match(mails, [{ to: email, text: /once, for 1 hour: until 2027-01-15 09:00 UTC/ }])
  const token = lastToken()
  t.strictSame(Object.keys((await store.findAccountByEmail(email))?.portal.resetLink ?? {}).toSorted(), [
    ...['digest', 'expiresAt', 'sentTo'],
  ])
  t.notMatch(JSON.stringify(await store.findAccountByEmail(email)), token)
  t.ok(await signIn.find(signedIn.token, visitor), 'asking ends nothing')
  t.match(await signIn.links.check(token), { expiresAt: time.now + hourMs })
  t.match(await redeem(token), { account: { email } })
  t.equal(await signIn.find(signedIn.token, visitor), undefined, 'the browsers of before are signed out')
  await t.rejects(signIn.links.check(token), { code: 'link-invalid' })
  await t.rejects(redeem(token), { code: 'link-invalid' })
  await t.rejects(signIn.signIn({ email, password }, visitor), { code: 'credentials-invalid' })
  await t.resolves(signIn.signIn({ email, password: next }, visitor))
  const entries = await listAudit(store, { before: undefined, limit: 5 })
  t.match(entries.toReversed(), [
    { action: 'password-reset-requested', actor: { kind: 'system' }, details: { address: visitor.address } },
    { action: 'password-set' },
    { action: 'signed-in' },
    { action: 'sign-in-failed' },
    { action: 'signed-in' },
  ])
})

t.test('a reset link works until it expires, and only the last one', async (t) => {
  const { createPerson, request, lastToken, redeem, time, signIn } = openResets(t)
  const { email } = await createPerson()
  await request(email)
  const first = lastToken()
  await request(email)
  const second = lastToken()
  await t.rejects(signIn.links.check(first), { code: 'link-invalid' })
  time.now += hourMs
  await t.rejects(signIn.links.check(second), { code: 'link-invalid' })
  await t.rejects(redeem(second), { code: 'link-invalid' })
  time.now -= 1
  await t.resolves(redeem(second))
})

t.test('every e-mail gets the same answer, before anybody looks for its account', async (t) => {
  const { createPerson, acts, resets, asked, mails } = openResets(t)
  const { email } = await createPerson()
  const other = await createPerson({ email: 'disabled@example.com' })
  await acts.accounts.update(other.id, { isDisabled: true })
  for (const who of [email, other.email, 'nobody@example.com']) {
    asked.length = 0
    t.equal(await resets.request(who, visitor), undefined)
    t.strictSame(asked, [], 'the answer does not wait for the store')
  }
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  t.equal(mails.length, 1)
})

t.test('requests are limited for an e-mail, of an account or not, and for an address', async (t) => {
  const { createPerson, request, time } = openResets(t)
  const { email } = await createPerson()
  let host = 0
  const elsewhere = () => `198.51.100.${++host}`
  for (const who of [email, 'nobody@example.com']) {
    for (let count = 0; count < 3; count++) await request(who, elsewhere())
    await t.rejects(request(who, elsewhere()), { code: 'rate-limited', rate: { limit: 3 } }, who)
    await t.rejects(
      request(who.toUpperCase(), elsewhere()),
      { code: 'rate-limited' },
      'however it is written',
    )
  }
  for (let count = 0; count < 10; count++) await request(`p${count}@example.com`, '203.0.113.7')
  await t.rejects(request('p10@example.com', '203.0.113.7'), { code: 'rate-limited', rate: { limit: 10 } })
  await request('p11@example.com', '203.0.113.8')
  time.now += hourMs
  await t.rejects(request('no e-mail'), { code: 'request-invalid', errors: [{ field: 'email' }] })
  await t.rejects(request(`${'x'.repeat(250)}@example.com`), { code: 'request-invalid' })
})

t.test('without a mail server nobody is promised a mail', async (t) => {
  const { resets } = openResets(t, { canMail: false })
  t.equal(resets.canSend, false)
  await t.rejects(resets.request('ada@example.com', visitor), { code: 'mail-unavailable' })
})

t.test('a link that was mailed does not outlive the e-mail it was sent to', async (t) => {
  const { createPerson, request, lastToken, redeem, acts, failures } = openResets(t)
  const { id, email } = await createPerson()
  await request(email)
  await acts.accounts.update(id, { email: 'new@example.com' })
  await t.rejects(redeem(lastToken()), { code: 'link-invalid' })
  t.strictSame(failures, [])
})
