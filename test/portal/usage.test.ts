import t from 'tap'
import { until } from '../setup/net.ts'
import { findBarriers } from './support/axe.ts'
import { portalTests, statusWith } from './support/portal.ts'

const test = portalTests(t)

test('the usage page shows what was forwarded, by day, key and route', async (t, portal) => {
  const { page, secretKey } = await portal.createPerson()
  await page.goto(`${portal.url}/portal/usage`)
  t.match(await page.locator('main').textContent(), 'No requests on these days')
  t.strictSame(await findBarriers(page), [])
  for (let count = 0; count < 3; count++) t.equal(await statusWith(portal, secretKey), 200)
  const row = page.locator('tbody tr')
  await until('the requests are counted', async () => {
    await page.reload()
    return (await row.count()) === 1 || undefined
  })
  await until('all of them are counted', async () => {
    await page.reload()
    return /default.*3.*3/.test((await row.textContent()) ?? '') || undefined
  })
  t.match(await page.locator('svg.days').getAttribute('aria-label'), /^3 requests from /)
  t.strictSame(await findBarriers(page), [])
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'CSV' }).click(),
  ])
  t.equal(download.suggestedFilename(), 'usage.csv')
})

test('days that cannot be read are refused, with the form expected', async (t, portal) => {
  const { page } = await portal.createPerson()
  await page.goto(`${portal.url}/portal/usage?from=yesterday`)
  t.match(await page.locator('main').textContent(), /2026-11-23|not match/)
})
