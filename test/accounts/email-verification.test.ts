import t, { type Test } from 'tap'
import { createEmailVerification } from '../../src/accounts/profile.ts'
import { createMailer } from '../../src/mail/mailer.ts'
import { openPeople, visitor } from '../auth/account-services.ts'
import { startMailServer } from '../setup/mail-server.ts'
import { listAudit } from '../store/portal-samples.ts'

/** People whose mails go to a real server. */
async function start(t: Test) {
  const { port, mails } = await startMailServer(t)
  const sendMail = createMailer({
    host: '127.0.0.1',
    port,
    username: undefined,
    password: undefined,
    from: 'gatehouse@example.com',
    security: 'none',
    tls: { verify: true, ca: undefined },
  })
  const people = openPeople(t, { sendMail })
  const { verify } = createEmailVerification({ store: people.store, clock: () => people.time.now })
  /** The token of the last mail, put together again where lines were broken. */
  const lastToken = () => {
    const text = (mails.at(-1) ?? '').replaceAll('=\r\n', '')
    return /portal\/verify#(gev_\w+)/.exec(text)?.[1] ?? ''
  }
  return { ...people, mails, verify: (token: string) => verify(token, visitor), lastToken }
}

t.test('a mailed link verifies the e-mail it was sent to, once', async (t) => {
  const { acts, verify, lastToken, mails, store } = await start(t)
  const profile = { firstName: '', lastName: '', role: 'User', isVerified: false }
  const { account } = await acts.accounts.create({ email: 'ada@example.com', ...profile })
  await acts.profile.sendVerification(account.id, 'ada@example.com')
  t.match(mails[0], /^To: ada@example\.com\r$/m)
  const token = lastToken()
  t.match(await verify(token), { id: account.id, isVerified: true })
  await t.rejects(verify(token), { code: 'link-invalid' })
  const actions = (await listAudit(store, { before: undefined, limit: 2 })).map(({ action }) => action)
  t.strictSame(actions, ['email-verified', 'email-verification-sent'])
})

t.test('a new e-mail takes effect when its link is used, not before', async (t) => {
  const { createPerson, acts, verify, lastToken, mails } = await start(t)
  const { id } = await createPerson()
  await acts.profile.sendVerification(id, 'new@example.com')
  t.match(mails[0], /^To: new@example\.com\r$/m)
  t.equal((await acts.accounts.find(id)).email, 'ada@example.com')
  await verify(lastToken())
  t.match(await acts.accounts.find('new@example.com'), { id, isVerified: true })
})

t.test('only the last verification link works, for an hour', async (t) => {
  const { createPerson, acts, verify, lastToken, time } = await start(t)
  const { id } = await createPerson()
  await acts.profile.sendVerification(id, 'one@example.com')
  const first = lastToken()
  await acts.profile.sendVerification(id, 'two@example.com')
  await t.rejects(verify(first), { code: 'link-invalid' })
  time.now += 3_600_000
  await t.rejects(verify(lastToken()), { code: 'link-invalid' })
  time.now -= 1
  t.match(await verify(lastToken()), { email: 'two@example.com' })
  for (const wrong of ['', 'x', first.replace('gev_', 'gsl_'), `gev_${id}_${'a'.repeat(43)}`]) {
    await t.rejects(verify(wrong), { code: 'link-invalid' })
  }
})

t.test('an e-mail that is in use or malformed is refused before a mail is sent', async (t) => {
  const { createPerson, acts, mails, verify, lastToken } = await start(t)
  const { id } = await createPerson()
  await createPerson({ email: 'bob@example.com' })
  const send = (email: string) => acts.profile.sendVerification(id, email)
  await t.rejects(send('BOB@example.com'), { code: 'account-exists' })
  for (const email of ['', 'x', 'a@b@c', 'a b@c', `${'x'.repeat(300)}@c`, 'a@b\r\nBcc: c@d']) {
    await t.rejects(send(email), { code: 'request-invalid' })
  }
  await t.rejects(acts.profile.sendVerification('nobody', 'x@example.com'), { code: 'account-not-found' })
  t.equal(mails.length, 0)
  await send('free@example.com')
  await acts.accounts.update('bob@example.com', { email: 'free@example.com' })
  await t.rejects(verify(lastToken()), { code: 'account-exists' }, 'taken meanwhile')
})

t.test('an account can request three verification mails an hour', async (t) => {
  const { createPerson, acts, mails, time } = await start(t)
  const { id } = await createPerson()
  const send = () => acts.profile.sendVerification(id, 'new@example.com')
  for (let count = 0; count < 3; count++) await send()
  for (let count = 0; count < 20; count++) await t.rejects(send(), { code: 'rate-limited' })
  t.equal(mails.length, 3)
  time.now += 1_200_000
  await send()
  t.equal(mails.length, 4)
})

t.test('verification is unavailable without a mail server', async (t) => {
  const { createPerson, acts } = openPeople(t)
  const { id } = await createPerson()
  t.equal(acts.profile.canSend, false)
  await t.rejects(acts.profile.sendVerification(id, 'x@example.com'), { code: 'mail-unavailable' })
})
