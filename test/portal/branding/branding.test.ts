import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { reloadWith, taken } from '../../gateway/support/reload.ts'
import { openPortalForm } from '../../security/support/portal-form.ts'
import { startGateway } from '../../setup/gateway.ts'
import { startMailServer } from '../../setup/mail-server.ts'
import { until } from '../../setup/net.ts'
import { brand, signInPageOf, svg } from './branded.ts'

t.test('without branding the portal is called Gatehouse, and shows no image', async (t) => {
  const page = await signInPageOf(await startGateway(t))
  t.match(page.html, '<title>Sign in · Gatehouse</title>')
  t.equal(page.logo, undefined)
  t.match(page.policy, /img-src data:;/)
})

t.test('name and logo are on every page, are taken by a reload, and are escaped', async (t) => {
  const gateway = await startGateway(t)
  await brand(t, gateway, { name: 'Acme <"API">' })
  const page = await signInPageOf(gateway)
  t.match(page.html, '<title>Sign in · Acme &lt;&quot;API&quot;&gt;</title>')
  t.match(page.html, 'alt="Acme &lt;&quot;API&quot;&gt;"')
  t.notMatch(page.html, 'Gatehouse')
  t.match(page.policy, /img-src 'self' data:;/)
  t.match(page.html, `<link rel="icon" href="${page.logo}">`)
  await brand(t, gateway, { name: 'Acme' }, svg('<!-- another -->'))
  t.not((await signInPageOf(gateway)).logo, page.logo, 'a new logo has another URL')
})

t.test('the logo is served with an ETag, kept for ever, and compressed where that helps', async (t) => {
  const gateway = await startGateway(t)
  await brand(t, gateway, {})
  const { logo } = await signInPageOf(gateway)
  const get = (headers: Record<string, string> = {}) => fetch(gateway.url + logo, { headers })
  const plain = await get({ 'Accept-Encoding': 'identity' })
  t.equal(await plain.text(), svg())
  t.equal(plain.headers.get('content-type'), 'image/svg+xml')
  t.equal(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  t.equal(plain.headers.get('x-content-type-options'), 'nosniff')
  const etag = plain.headers.get('etag') ?? ''
  t.match(etag, /^"[\w-]{16}"$/)
  const known = await get({ 'Accept-Encoding': 'identity', 'If-None-Match': etag })
  t.match({ status: known.status, etag: known.headers.get('etag') }, { status: 304, etag })
  t.equal(await known.text(), '')
  const packed = await get({ 'Accept-Encoding': 'gzip', 'If-None-Match': etag })
  t.equal(packed.status, 200, 'another coding is another representation')
  t.equal(packed.headers.get('content-encoding'), 'gzip')
  t.not(packed.headers.get('etag'), etag)

  const png = Buffer.from('89504e470d0a1a0a', 'hex')
  writeFileSync(join(dirname(gateway.configFile), 'logo'), png)
  t.match(await reloadWith(gateway, { portal: { branding: { logo: { file: 'logo' } } } }), taken)
  const image = await fetch(gateway.url + (await signInPageOf(gateway)).logo)
  t.equal(image.headers.get('content-type'), 'image/png')
  t.equal(image.headers.get('content-encoding'), null)
  t.strictSame(Buffer.from(await image.arrayBuffer()), png)
  t.equal((await get()).status, 404, 'the one before is gone')
})

t.test('a reload with a logo or colour that cannot be used is refused, and nothing changes', async (t) => {
  const gateway = await startGateway(t)
  await brand(t, gateway, { name: 'Acme' })
  const before = await signInPageOf(gateway)
  for (const branding of [
    { logo: { file: 'missing' } },
    { logo: { file: 'gateway.yaml' } },
    { color: '#ffcc00' },
  ])
    t.match(await reloadWith(gateway, { portal: { branding } }), { code: 422 })
  t.equal((await signInPageOf(gateway)).logo, before.logo)
})

t.test('mails come from the name of the portal, and are signed with it', async (t) => {
  const { port, mails } = await startMailServer(t)
  const mail = { host: '127.0.0.1', port, security: 'none', from: 'api@example.com' }
  const gateway = await startGateway(t, { config: { mail, portal: { branding: { name: 'Acme API' } } } })
  await gateway.createAccount({ email: 'ada@example.com' })
  const ask = await openPortalForm(gateway.url, '/forgot')
  t.match(await ask({ email: 'ada@example.com' }), { status: 200 })
  const text = await until('the mail is there', () => mails[0])
  t.match(text, /^From: Acme API <api@example\.com>\r$/m)
  t.match(text, /\r\n--(?: |=20)\r\nAcme API\r\n/)
})
