import t from 'tap'
import { openPortalForm } from '../../security/support/portal-form.ts'
import { startGateway, storeDrivers } from '../../setup/gateway.ts'
import { startMailServer } from '../../setup/mail-server.ts'
import { until } from '../../setup/net.ts'

const password = 'correct horse battery staple'

for (const driver of storeDrivers) {
  t.test(`people are told by mail what happens to their account (${driver})`, async (t) => {
    const { port, mails } = await startMailServer(t)
    const mail = { host: '127.0.0.1', port, security: 'none', from: 'gatehouse@example.com' }
    const config = { mail, trustedProxies: ['127.0.0.1'] }
    const gateway = await startGateway(t, { driver, config })
    const admin = await gateway.createAccount({ email: 'root@example.com', role: 'Admin' })
    const { account } = await gateway.createAccount({ email: 'ada@example.com' })
    let read = 0
    /** The next mail. */
    async function next() {
      const text = (await until('the mail is there', () => mails[read])).replaceAll('=\r\n', '')
      read++
      const [, to] = /^To: (\S+)\r$/m.exec(text) ?? []
      const [, subject] = /^Subject: (.+)\r$/m.exec(text) ?? []
      return { to, subject, text }
    }
    const from = (address: string) => ({ 'X-Forwarded-For': address })
    const { token } = await gateway.operate(({ setupLinks }) => setupLinks.create(account.id))
    const choose = await openPortalForm(gateway.url, '/setup')
    t.equal((await choose({ token, password, again: password }, from('203.0.113.9'))).status, 303)
    t.match(await next(), { to: 'ada@example.com', subject: 'A password was set for your account' })

    const signIn = await openPortalForm(gateway.url, '/sign-in')
    const enter = async (address: string) =>
      t.equal((await signIn({ email: account.email, password }, from(address))).status, 303)
    // The first network is no news, nor is another address of it; the next mail shows that none came of them.
    await enter('203.0.113.77')
    await enter('198.51.100.7')
    const seen = await next()
    t.match(seen, { to: 'ada@example.com', subject: 'Your account was signed in to from a new network' })
    t.match(seen.text, ' UTC from 198.51.100.7.')
    await enter('198.51.100.8')

    const asAdmin = (method: string, path: string, body: unknown) =>
      fetch(`${gateway.url}/api/v1/admin/accounts/${account.id}${path}`, {
        method,
        headers: { SecretKey: admin.secretKey, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      })
    t.equal((await asAdmin('POST', '/secret-key', {})).status, 200)
    const reset = await next()
    t.match(reset, { to: 'ada@example.com', subject: 'The secret key of your account was reset' })
    t.match(reset.text, 'by an administrator.')
    t.notMatch(reset.text, /root@example\.com|_sk_/)
    t.equal((await asAdmin('PATCH', '', { email: 'ada.king@example.com' })).status, 200)
    const moved = [await next(), await next()]
    t.strictSame(moved.map(({ to }) => to).toSorted(), ['ada.king@example.com', 'ada@example.com'])
    t.match(moved[0], { subject: 'The e-mail of your account is now ada.king@example.com' })
    t.equal((await asAdmin('PATCH', '', { firstName: 'Ada' })).status, 200)
    t.equal((await asAdmin('POST', '/api-key', {})).status, 200)
    t.match(await next(), { to: 'ada.king@example.com', subject: 'The API key of your account was reset' })
    t.equal(mails.length, read)
  })
}

t.test('without notices in the config, nobody is told', async (t) => {
  const { port, mails } = await startMailServer(t)
  const mail = { host: '127.0.0.1', port, security: 'none', from: 'gatehouse@example.com', notices: false }
  const gateway = await startGateway(t, { config: { mail } })
  const { account } = await gateway.createAccount()
  const { token } = await gateway.operate(({ setupLinks }) => setupLinks.create(account.id))
  const choose = await openPortalForm(gateway.url, '/setup')
  t.equal((await choose({ token, password, again: password })).status, 303)
  await gateway.shutDown()
  t.equal(mails.length, 0)
})
