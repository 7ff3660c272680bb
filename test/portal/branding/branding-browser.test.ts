import t from 'tap'
import { startServer } from '../../setup/backend.ts'
import { startChromium } from '../../setup/chromium.ts'
import { startGateway } from '../../setup/gateway.ts'
import { findBarriers } from '../support/axe.ts'
import { brand, signInPageOf, svg } from './branded.ts'

const scripted = svg("<script>document.documentElement.setAttribute('data-ran', 'yes')</script>")

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
