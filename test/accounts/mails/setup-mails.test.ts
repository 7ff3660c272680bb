import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SMTPServerOptions } from 'smtp-server'
import t, { type Test } from 'tap'
import { run, tempFolder } from '../../cli/run.ts'
import { openPortalForm } from '../../security/support/portal-form.ts'
import { startGateway } from '../../setup/gateway.ts'
import { startMailServer } from '../../setup/mail-server.ts'
import { until } from '../../setup/net.ts'

const password = 'correct horse battery staple'

/** Whom a mail went to, and the token of its link. */
function linkIn(mail = '') {
  const [, to] = /^To: (\S+)\r$/m.exec(mail) ?? []
  const [, token = ''] = /setup#(gsl_\w+)/.exec(mail.replaceAll('=\r\n', '')) ?? []
  return { to, token }
}

/** A gateway and commands on one store, before a real mail server. */
async function start(t: Test, { hasMail = true, server = {} as SMTPServerOptions } = {}) {
  const { port, mails } = await startMailServer(t, server)
  const mail = { host: '127.0.0.1', port, security: 'none', from: 'gatehouse@example.com', notices: false }
  const gateway = await startGateway(t, { config: { ...(hasMail && { mail }) } })
  const command = (...args: readonly string[]) => run(t, [...args, '--json', '--config', gateway.configFile])
  return { gateway, command, mails }
}

t.test('set-up links are mailed by commands, the admin API and the portal', async (t) => {
  const { gateway, command, mails } = await start(t)
  const made = await command(
    'accounts',
    'create',
    '--email',
    'ada@example.com',
    '--role',
    'Admin',
    '--mail-link',
  )
  t.equal(made.status, 0)
  t.equal((made.json() as { setupUrl?: string }).setupUrl, undefined, 'it is printed nowhere')
  const ada = linkIn(mails[0])
  t.equal(ada.to, 'ada@example.com')
  t.match(mails[0]?.replaceAll('=\r\n', ''), /once, for 24 hours/)
  const check = await openPortalForm(gateway.url, '/setup', '/setup/check')
  t.match(await check({ token: ada.token }), { status: 200, text: 'in 1 day' })

  const again = await command('accounts', 'setup-link', 'ada@example.com', '--mail-link')
  t.match(again.json(), { mailedTo: 'ada@example.com' })
  t.equal((await check({ token: ada.token })).status, 403, 'the later one replaces it')
  const choose = await openPortalForm(gateway.url, '/setup')
  const { cookies } = await choose({ token: linkIn(mails[1]).token, password, again: password })

  const { secretKey } = made.json() as { secretKey: string }
  const body = { email: 'bob@example.com', firstName: '', lastName: '', role: 'User', mailSetupLink: true }
  const created = await gateway.post('/api/v1/admin/accounts', body, { SecretKey: secretKey })
  t.equal(created.status, 201)
  t.notOk('setupUrl' in ((await created.json()) as object))
  const third = await until('the third mail is there', () => mails[2])
  t.match(linkIn(third).to, 'bob@example.com')

  const page = await (
    await fetch(`${gateway.url}/portal/accounts/new`, { headers: { Cookie: cookies } })
  ).text()
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
  const send = (path: string, fields: Readonly<Record<string, string>>) =>
    fetch(`${gateway.url}/portal${path}`, {
      method: 'POST',
      headers: { Cookie: cookies, Origin: gateway.url },
      body: new URLSearchParams({ csrf, ...fields }),
    })
  const shown = await (
    await send('/accounts/new', { email: 'eve@example.com', role: 'User', mailsLink: 'true' })
  ).text()
  t.match(shown, 'A set-up link is on its way to the owner.')
  t.notMatch(shown, 'gsl_')
  t.equal(linkIn(await until('the fourth mail is there', () => mails[3])).to, 'eve@example.com')
  const text = 'email\nx@example.com\ny@example.com\n'
  const imported = await (await send('/accounts/import', { text, mailsLink: 'true' })).text()
  t.match(imported, '2 accounts created, and their set-up links are on their way.')
  await until('both are there', () => mails[5])
  t.strictSame(
    mails
      .slice(4)
      .map((mail) => linkIn(mail).to)
      .toSorted(),
    ['x@example.com', 'y@example.com'],
  )
  t.notMatch(gateway.logLines.join(''), /gsl_\w/)
})

t.test('an import mails a link to everybody, and says who got none', async (t) => {
  const { command, mails } = await start(t)
  const file = join(tempFolder(t), 'people.csv')
  const rows = Array.from({ length: 12 }, (_, index) => `p${index}@example.com`)
  writeFileSync(file, ['email', ...rows, ''].join('\n'))
  const imported = await command('accounts', 'import', file, '--mail-links')
  t.equal(imported.status, 0, imported.stderr)
  t.strictSame(mails.map((mail) => linkIn(mail).to).toSorted(), rows.toSorted())
  t.equal(new Set(mails.map((mail) => linkIn(mail).token)).size, 12)
})

t.test('a link that cannot be mailed holds up no other, and fails the command in the end', async (t) => {
  const refused = new Set(['p1@example.com', 'p6@example.com'])
  const { command, mails } = await start(t, {
    server: {
      onRcptTo: ({ address }, _session, done) => done(refused.has(address) ? new Error('no') : null),
    },
  })
  const file = join(tempFolder(t), 'people.csv')
  const rows = Array.from({ length: 9 }, (_, index) => `p${index}@example.com`)
  writeFileSync(file, ['email', ...rows, ''].join('\n'))
  const imported = await command('accounts', 'import', file, '--mail-links')
  t.equal(imported.status, 1)
  t.equal((imported.json() as readonly unknown[]).length, 9, 'all are imported, and their keys printed')
  t.strictSame(
    imported.stderr.match(/no link was mailed to \S+(?=: )/g)?.toSorted(),
    [...refused].map((email) => `no link was mailed to ${email}`),
  )
  t.match(imported.stderr, '2 of 9 set-up links were not mailed; the accounts are imported')
  t.strictSame(
    mails.map((mail) => linkIn(mail).to).toSorted(),
    rows.filter((email) => !refused.has(email)),
  )
})

t.test('without a mail server nothing is created for links that cannot be mailed', async (t) => {
  const { gateway, command } = await start(t, { hasMail: false })
  const { secretKey } = await gateway.createAccount({ role: 'Admin' })
  const file = join(tempFolder(t), 'people.csv')
  writeFileSync(file, 'email\np@example.com\n')
  const outcomes = [
    await command('accounts', 'create', '--email', 'ada@example.com', '--mail-link'),
    await command('accounts', 'import', file, '--mail-links'),
  ]
  for (const { status, stderr } of outcomes) {
    t.equal(status, 1)
    t.match(stderr, 'set-up links cannot be mailed')
  }
  const body = { email: 'bob@example.com', firstName: '', lastName: '', role: 'User', mailSetupLink: true }
  const refused = await gateway.post('/api/v1/admin/accounts', body, { SecretKey: secretKey })
  t.match(await refused.json(), { status: 503, code: 'mail-unavailable' })
  const list = (await command('accounts', 'list')).json() as
    | { items?: readonly unknown[] }
    | readonly unknown[]
  t.equal((Array.isArray(list) ? list : (list as { items: readonly unknown[] }).items).length, 1)
})
