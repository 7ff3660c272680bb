import t, { type Test } from 'tap'
import { createEmailVerifier } from '#accounts/email-verification.ts'
import { createMailer } from '#accounts/mails/mailer.ts'
import { openPeople, visitor } from '../identity/account-services.ts'
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
    name: 'Gatehouse',
    security: 'none',
    tls: { verify: true, ca: undefined },
  })
  const people = openPeople(t, { sendMail })
  const verify = createEmailVerifier({ store: people.store, clock: () => people.time.now })
  /** The token of the last mail, put together again where lines were broken. */
  const lastToken = () => {
    const text = (mails.at(-1) ?? '').replaceAll('=\r\n', '')
    return /portal\/verify#(gev_\w+)/.exec(text)?.[1] ?? ''
  }
  return {
    ...people,
    mails,
    verify: (token: string, viewerId = idIn(token)) => verify(token, viewerId, visitor),
    lastToken,
  }
}

/** The account that asked for the link with this token: its owner is signed in, unless a test says otherwise. */
const idIn = (token: string) => token.split('_')[1]

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
  t.equal((await acts.accounts.get(id)).email, 'ada@example.com')
  await verify(lastToken())
  t.match(await acts.accounts.get('new@example.com'), { id, isVerified: true })
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

t.test('an e-mail that is malformed is refused before a mail is sent', async (t) => {
  const { createPerson, acts, mails, verify, lastToken } = await start(t)
  const { id } = await createPerson()
  await createPerson({ email: 'bob@example.com' })
  const send = (email: string) => acts.profile.sendVerification(id, email)
  for (const email of ['', 'x', 'a@b@c', 'a b@c', `${'x'.repeat(300)}@c`, 'a@b\r\nBcc: c@d']) {
    await t.rejects(send(email), { code: 'request-invalid' })
  }
  await t.rejects(acts.profile.sendVerification('nobody', 'x@example.com'), { code: 'account-not-found' })
  t.equal(mails.length, 0)
  await send('free@example.com')
  await acts.accounts.update('bob@example.com', { email: 'free@example.com' })
  await t.rejects(verify(lastToken()), { code: 'account-exists' }, 'taken meanwhile')
})

t.test('the answer does not tell whether an e-mail is in use, and takes from the limit alike', async (t) => {
  const { createPerson, acts, mails, verify, lastToken } = await start(t)
  const { id } = await createPerson()
  await createPerson({ email: 'bob@example.com' })
  const send = (email: string) => acts.profile.sendVerification(id, email)
  t.equal(await send('BOB@example.com'), undefined)
  t.match(mails[0], /^To: BOB@example\.com\r$/m, 'whoever reads its mails is told')
  await t.rejects(verify(lastToken()), { code: 'account-exists' }, 'and it stays where it is')
  await send('free@example.com')
  await send('bob@example.com')
  for (const email of ['bob@example.com', 'free@example.com', 'BOB@example.com'])
    await t.rejects(send(email), { code: 'rate-limited' })
  t.equal(mails.length, 3)
})

t.test('a link is of no use without the session of the account that asked for it', async (t) => {
  const { createPerson, acts, verify, lastToken, mails, store } = await start(t)
  const mallory = await createPerson({ email: 'mallory@example.com' })
  const ada = await createPerson({ email: 'ada@example.org' })
  await acts.profile.sendVerification(mallory.id, 'victim@example.com')
  const mail = (mails[0] ?? '').replaceAll('=\r\n', '')
  t.match(mail, /mallory@example\.com/, 'the mail names the account')
  t.ok(mail.includes(mallory.id))
  t.notMatch(mail, /Lovelace/, 'and has no text that whoever asks could choose')
  const token = lastToken()
  const owner = { account: 'mallory@example.com', email: 'victim@example.com' }
  for (const viewerId of ['', ada.id, 'nobody'])
    t.match(await verify(token, viewerId).catch((error: unknown) => error), owner)
  const mistyped = token.slice(0, -9) + (token.at(-9) === 'x' ? 'y' : 'x') + token.slice(-8)
  for (const wrong of [mistyped, `gev_${mallory.id}_${'a'.repeat(43)}`])
    await t.rejects(verify(wrong, ada.id), { code: 'link-invalid' }, 'only a link that works names it')
  t.match(await store.findAccount(mallory.id), { email: 'mallory@example.com' })
  t.match(await verify(token, mallory.id), { email: 'victim@example.com', isVerified: true })
})

t.test('an e-mail that is changed otherwise is not verified any more', async (t) => {
  const { createPerson, acts } = await start(t)
  const { id } = await createPerson()
  const change = (email: string) => acts.accounts.update(id, { email })
  t.match(await acts.accounts.update(id, { isVerified: true }), { isVerified: true })
  t.match(await change('ADA@example.com'), { isVerified: true }, 'the same one in other letters')
  t.match(await change('new@example.com'), { isVerified: false })
  const both = { email: 'other@example.com', isVerified: true }
  t.match(await acts.accounts.update(id, both), both, 'unless it is said to be')
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
