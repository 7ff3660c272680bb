import t from 'tap'
import { createMailer, type MailServer } from '#accounts/mails/mailer.ts'
import { startMailServer } from '../../setup/mail-server.ts'
import { certificate, certificateKey } from '../../store/redis/certificate.ts'

const mail = { to: 'ada@example.com', subject: 'Hello', text: 'A text.\n.\nÄnd more.' }
const plain: Omit<MailServer, 'port'> = {
  host: '127.0.0.1',
  security: 'none',
  username: undefined,
  password: undefined,
  from: 'gatehouse@example.com',
  name: 'Ünited, "Acme" API',
  tls: { verify: true, ca: undefined },
}

t.test('a mail arrives as written', async (t) => {
  const { port, mails } = await startMailServer(t)
  await createMailer({ ...plain, port })(mail)
  const [text = ''] = mails
  t.match(text, /^From: =\?UTF-8\?[QB]\?\S+\?= <gatehouse@example\.com>\r$/m)
  t.match(text, /^To: ada@example\.com\r$/m)
  t.match(text, /^Subject: Hello\r$/m)
  t.match(text, /A text\./)
  t.match(text, /\r\n-- ?(?:=20)?\r\n=C3=9Cnited, "Acme" API\r\n/, 'signed with the name')
})

t.test('unusual characters in an address cannot break out of it', async (t) => {
  const { port, mails } = await startMailServer(t)
  const to = 'ada@example.com, eve@example.com'
  await createMailer({ ...plain, port })({ ...mail, to }).catch(() => {})
  t.notMatch(mails.join(''), /^To:.*eve@example\.com, |^Bcc:/m)
})

t.test('an unreachable mail server and a refused mail are reported as such', async (t) => {
  await t.rejects(createMailer({ ...plain, port: 1 })(mail), { code: 'mail-unavailable', status: 503 })
  const { port } = await startMailServer(t, {
    onRcptTo: (_address, _session, done) => done(new Error('no such user')),
  })
  await t.rejects(createMailer({ ...plain, port })(mail), { code: 'mail-unavailable' })
})

t.test('a mail that requires TLS is not sent without it, nor to an untrusted server', async (t) => {
  const open = await startMailServer(t)
  const starttls = { ...plain, security: 'starttls' } as const
  await t.rejects(createMailer({ ...starttls, port: open.port })(mail), { code: 'mail-unavailable' })
  t.strictSame(open.mails, [])
  const secure = await startMailServer(t, { key: certificateKey, cert: certificate })
  await t.rejects(createMailer({ ...starttls, port: secure.port })(mail), { code: 'mail-unavailable' })
  t.strictSame(secure.mails, [])
  await createMailer({ ...starttls, port: secure.port, tls: { verify: true, ca: certificate } })(mail)
  t.equal(secure.mails.length, 1)
})
