import t from 'tap'
import { openPortalForm } from '../security/support/portal-form.ts'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import { startMailServer } from '../setup/mail-server.ts'
import { until } from '../setup/net.ts'

const password = 'correct horse battery staple'

for (const driver of storeDrivers) {
  t.test(`a forgotten password is replaced through a mailed link (${driver})`, async (t) => {
    const { port, mails } = await startMailServer(t)
    const mail = { host: '127.0.0.1', port, security: 'none', from: 'gatehouse@example.com', notices: false }
    const portal = { resetLinkLifetime: '2h' }
    const gateway = await startGateway(t, { driver, config: { mail, portal } })
    const { account } = await gateway.createAccount({ email: 'ada@example.com' })
    const ask = await openPortalForm(gateway.url, '/forgot')
    const [known, unknown] = [
      await ask({ email: 'ADA@example.com' }),
      await ask({ email: 'bob@example.com' }),
    ]
    t.equal(known.status, 200)
    t.equal(unknown.status, 200)
    t.match(known.text, 'on its way. It works once, for 2 hours.')
    t.equal(textOf(known.text, 'ADA@example.com'), textOf(unknown.text, 'bob@example.com'))
    t.equal((await ask({ email: 'nothing' })).status, 400)

    const text = await until('the mail is there', () => mails[0])
    t.match(text, /^To: ada@example\.com\r$/m)
    const [, link = ''] = /setup#(gpr_\w+)/.exec(text.replaceAll('=\r\n', '')) ?? []
    const check = await openPortalForm(gateway.url, '/setup', '/setup/check')
    t.match(await check({ token: link }), { status: 200, text: '>in 2 hours<' })
    const choose = await openPortalForm(gateway.url, '/setup')
    t.match(await choose({ token: link, password, again: 'other' }), { status: 400, text: 'do not match' })
    t.match(await choose({ token: link, password, again: password }), { status: 303 })
    t.match(await check({ token: link }), { status: 403, text: 'The link has expired' })
    t.match(await choose({ token: link, password, again: password }), {
      status: 403,
      text: 'The link has expired',
    })
    const signIn = await openPortalForm(gateway.url, '/sign-in')
    t.match(await signIn({ email: account.email, password }), { status: 303 })
    t.equal(mails.length, 1)
    t.notMatch(gateway.logLines.join(''), link)
    t.match(gateway.logLines.join(''), /"action":"password-reset-requested"/)
  })
}

t.test('a mail that cannot be sent is logged once, and delays no answer', async (t) => {
  const { port } = await startMailServer(t, { onRcptTo: (_to, _session, done) => done(new Error('no')) })
  const mail = { host: '127.0.0.1', port, security: 'none', from: 'gatehouse@example.com', notices: false }
  const gateway = await startGateway(t, { config: { mail } })
  const { account } = await gateway.createAccount()
  const ask = await openPortalForm(gateway.url, '/forgot')
  t.equal((await ask({ email: account.email })).status, 200)
  const failures = () => gateway.logLines.filter((line) => line.includes('a mail could not be sent'))
  await until('the failure is logged', () => failures().length > 0 || undefined)
  t.equal(failures().length, 1)
  t.notMatch(failures().join(''), account.email)
})

t.test('without a mail server the page says whom to ask', async (t) => {
  const gateway = await startGateway(t)
  const page = await (await fetch(`${gateway.url}/portal/forgot`)).text()
  t.match(page, 'Ask an administrator for a set-up link')
  t.notMatch(page, 'Send link')
})

/** What an answer says but for the e-mail, the nonce and the tokens of the page. */
function textOf(page: string, email: string): string {
  return page.replaceAll(email, '').replaceAll(/(?:nonce|value)="[^"]*"/g, '')
}
