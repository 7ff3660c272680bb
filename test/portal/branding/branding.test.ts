import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { reloadWith, taken } from '../../gateway/support/reload.ts'
import { openPortalForm } from '../../security/support/portal-form.ts'
import { startServer } from '../../setup/backend.ts'
import { startChromium } from '../../setup/chromium.ts'
import { startGateway, type TestGateway } from '../../setup/gateway.ts'
import { startMailServer } from '../../setup/mail-server.ts'
import { until } from '../../setup/net.ts'
import { findBarriers } from '../support/axe.ts'

const svg = (more = '') =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="240" height="60">${more}<rect width="240" height="60" fill="#888"/></svg>`
const scripted = svg("<script>document.documentElement.setAttribute('data-ran', 'yes')</script>")

/** Has a gateway take a branding, whose logo is in a file beside its config. */
async function brand(t: Test, gateway: TestGateway, branding: object, logo = svg()): Promise<void> {
  writeFileSync(join(dirname(gateway.configFile), 'logo'), logo)
  t.match(await reloadWith(gateway, { portal: { branding: { ...branding, logo: { file: 'logo' } } } }), taken)
}

async function signInPageOf({ url }: TestGateway) {
  const response = await fetch(`${url}/portal/sign-in`)
  const html = await response.text()
  const [, logo] = /<img src="([^"]+)" alt="([^"]*)">/.exec(html) ?? []
  return { html, logo, policy: response.headers.get('content-security-policy') ?? '' }
}

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

t.test('an SVG runs no script, neither in a page nor opened by itself', async (t) => {
  const gateway = await startGateway(t)
  await brand(t, gateway, { name: 'Acme' }, scripted)
  const browser = await startChromium(t)
  const page = await browser.newPage()
  await page.goto(`${gateway.url}/portal/sign-in`)
  await page.getByRole('img', { name: 'Acme' }).waitFor()
  t.equal(await page.evaluate("document.querySelector('.brand img').naturalWidth"), 240, 'the image is shown')
  const { logo } = await signInPageOf(gateway)
  const ran = 'document.documentElement.dataset.ran'
  await page.goto(gateway.url + logo)
  t.equal(await page.evaluate(ran), undefined)
  const elsewhere = await startServer(t, (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'image/svg+xml' }).end(scripted)
  })
  await page.goto(elsewhere)
  t.equal(await page.evaluate(ran), 'yes', 'it would without the policy')
})

t.test(
  'a branded page passes the accessibility checks, on light and dark pages and on a phone',
  async (t) => {
    const gateway = await startGateway(t)
    await brand(t, gateway, { name: 'Acme', color: '#a21caf' }, svg().replaceAll('240', '2400'))
    const browser = await startChromium(t)
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ colorScheme, viewport: { width: 390, height: 800 } })
      await page.goto(`${gateway.url}/portal/sign-in`)
      t.strictSame(await findBarriers(page), [], colorScheme)
      t.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 390, 'a wide logo fits')
      const accent = await page.evaluate(
        "getComputedStyle(document.querySelector('.primary')).backgroundColor",
      )
      t.equal(accent === 'rgb(162, 28, 175)', colorScheme === 'light', `${colorScheme}: ${accent}`)
    }
  },
)

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
