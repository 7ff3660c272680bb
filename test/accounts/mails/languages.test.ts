import t from 'tap'
import { createReminderReceiver } from '#accounts/events/reminders.ts'
import { de } from '#accounts/mails/de.ts'
import { en } from '#accounts/mails/en.ts'
import type { Mail } from '#accounts/mails/mail.ts'
import { createNotices } from '#accounts/mails/notices.ts'
import { createPasswordResets } from '#identity/passwords/password-links.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { AuditEntry } from '#store/audit-entry.ts'
import { openPeople, visitor } from '../../identity/account-services.ts'

const portalUrl = 'https://api.example.com/portal'
const at = Date.UTC(2026, 10, 28, 18, 37)

t.test('a mail is in the language that the account has chosen, else as it was asked for', async (t) => {
  const mails: Mail[] = []
  const sendMail = async (mail: Mail) => void mails.push(mail)
  const people = openPeople(t, { sendMail })
  const { store, acts, time } = people
  const { id, email } = await people.createPerson()
  const work: Promise<void>[] = []
  const outbox = { add: ({ run }: { run: () => Promise<void> }) => void work.push(run()) }
  const limiter = {
    take: () => ({ isAllowed: true, remaining: 1, resetMs: 0, retryMs: 0 }),
    takeInProcess: () => ({ isAllowed: true, remaining: 1, resetMs: 0, retryMs: 0 }),
  }
  const common = { store, limiter, outbox, sendMail, portalUrl, clock: () => time.now }
  const resets = createPasswordResets({ ...common, linkLifetimeMs: 3_600_000 })
  const notify = createNotices(common)
  const reminders = createReminderReceiver(common)

  const entry: AuditEntry = {
    at,
    actor: { kind: 'account', channel: 'portal', id, email, address: '192.0.2.1' },
    action: 'secret-key-reset',
    target: { id, email },
    details: {},
  }
  const subjects = async (language?: 'de') => {
    mails.length = 0
    // Only three verifications may be sent in an hour.
    time.now += 3_600_000
    await acts.setupLinks.mail(id)
    await acts.profile.sendVerification(id, email, language)
    await resets.request(email, visitor, language)
    await Promise.all(work.splice(0))
    notify(entry)
    await Promise.all(work.splice(0))
    notify({ ...entry, details: { name: 'ci' } })
    await Promise.all(work.splice(0))
    const details = { name: 'ci', expiresAt: new Date(at).toISOString() }
    await reminders.deliver({ id: '1', type: 'key.expiring', entry: { ...entry, details } })
    return mails.map(({ subject }) => subject)
  }
  const inEnglish = [
    'Choose your password',
    'Verify this e-mail address for the account ada@example.com',
    'Choose a new password',
    'The secret key of your account was reset',
    'The secret key "ci" of your account was reset',
    'Your secret key "ci" is about to expire',
  ]
  const inGerman = [
    'Wählen Sie Ihr Passwort',
    'Bestätigen Sie diese E-Mail-Adresse für das Konto ada@example.com',
    'Wählen Sie ein neues Passwort',
    'Der Geheimschlüssel Ihres Kontos wurde zurückgesetzt',
    'Der Geheimschlüssel „ci“ Ihres Kontos wurde erneuert',
    'Ihr Geheimschlüssel „ci“ läuft bald ab',
  ]
  t.strictSame(await subjects(), inEnglish)
  const asAsked = inGerman.map((text, index) => (index === 1 || index === 2 ? text : inEnglish[index]))
  t.strictSame(await subjects('de'), asAsked, 'of those who asked themselves the browser tells')
  await acts.profile.setLanguage(id, 'de')
  t.strictSame(await subjects(), inGerman)
  t.match(mails[3]?.text, '(2026-11-28 18:37 UTC, von 192.0.2.1 aus).')
  await acts.profile.setLanguage(id, 'en')
  t.strictSame(await subjects('de'), inEnglish)
  t.match(mails[3]?.text, ', at 2026-11-28 18:37 UTC from 192.0.2.1.')
})

t.test('a notice is sent in English while the account cannot be read', async (t) => {
  const people = openPeople(t)
  const { id, email } = await people.createPerson()
  await people.acts.profile.setLanguage(id, 'de')
  const mails: Mail[] = []
  const work: Promise<void>[] = []
  const notify = createNotices({
    store: {
      ...people.store,
      findAccount: async () => {
        throw new GatehouseError('store-unavailable')
      },
    },
    outbox: { add: ({ run }) => void work.push(run()) },
    limiter: { takeInProcess: () => ({ isAllowed: true, remaining: 1, resetMs: 0, retryMs: 0 }) },
    sendMail: async (mail) => void mails.push(mail),
    portalUrl,
  })
  const actor = { kind: 'system', channel: 'system' } as const
  notify({ at, actor, action: 'api-key-reset', target: { id, email }, details: {} })
  await Promise.all(work)
  t.match(mails, [{ to: email, subject: 'The API key of your account was reset' }])
})

t.test('a mail says the same in every language', async (t) => {
  const link = {
    to: 'ada@example.com',
    url: `${portalUrl}/setup#gsl_x`,
    lifetimeMs: 3_600_000,
    expiresAt: at,
  }
  const asked = { ...link, account: { id: 'Kx3TbWq9ZrLm2VcA', email: 'root@example.com' }, at }
  const by = { address: '192.0.2.1' }
  const mailsOf = (texts: typeof en) => [
    texts.forgottenPassword(link),
    texts.setUp(link, portalUrl),
    texts.verification({ ...asked, from: '192.0.2.1' }),
    texts.verification({ ...asked, from: undefined }),
    texts.keyExpires({ name: 'ci', expiresAt: at, portalUrl }),
    texts.keyEnded('ci', at, portalUrl),
    texts.keyEnded(undefined, at, portalUrl),
    ...[...Object.values(texts.happenings), texts.furtherKeyReset('ci'), texts.newNetwork].map((what) =>
      texts.notice({ what, at, by, portalUrl }),
    ),
    texts.notice({ what: texts.emailChanged('ada@example.com'), at, by: 'admin', portalUrl }),
    texts.notice({ what: texts.emailChanged('ada@example.com'), at, by: undefined, portalUrl }),
  ]
  const facts = /https:\S+|\S+@\w+\.com|192\.0\.2\.1|\d{4}-\d\d-\d\d \d\d:\d\d UTC|[a-zA-Z0-9]{16}|\bci\b/g
  const [inEnglish, inGerman] = [mailsOf(en), mailsOf(de)]
  t.equal(inGerman.length, inEnglish.length)
  for (const [index, mail] of inEnglish.entries()) {
    const other = inGerman[index] ?? { subject: '', lines: [] }
    const factsIn = ({ subject, lines }: typeof mail) =>
      [subject, ...lines].join('\n').match(facts)?.toSorted()
    t.strictSame(factsIn(other), factsIn(mail), mail.subject)
    const same = other.lines.filter((line) => line !== '' && mail.lines.includes(line))
    t.strictSame(
      same.filter((line) => !line.startsWith('https:')),
      [],
      mail.subject,
    )
    t.ok(
      other.lines.every((line) => line.length <= 140),
      'no line is too long to read',
    )
  }
})
