import type { Page } from 'playwright-core'
import t from 'tap'
import { until } from '../setup/net.ts'
import { findBarriers } from './support/axe.ts'
import { goodPassword, portalTests } from './support/portal.ts'

const test = portalTests(t, { driver: 'redis' })

test('the portal reports an unreachable store, and leads back to the page once it is reachable', async (t, portal) => {
  const { page } = await portal.createPerson()
  portal.redis?.signal('SIGSTOP')
  const answer = await page.goto(`${portal.url}/portal/sessions`)
  t.equal(answer?.status(), 503)
  t.equal(answer?.headers()['retry-after'], '1')
  await page.getByText('This page is temporarily unavailable. Recently used keys keep working').waitFor()
  t.strictSame(await findBarriers(page), [])
  portal.redis?.signal('SIGCONT')
  await tryAgain(page, 'Sessions')
  t.equal(page.url(), `${portal.url}/portal/sessions`)
})

test('a form sent during an outage reports that nothing was saved, and leads back to its page', async (t, portal) => {
  const { page } = await portal.createPerson()
  await page.goto(`${portal.url}/portal/profile`)
  await page.getByLabel('First name').fill('Grace')
  portal.redis?.signal('SIGSTOP')
  await page.getByRole('button', { name: 'Save name' }).click()
  await page
    .getByText('temporarily unavailable. Nothing was saved. Recently used keys keep working')
    .waitFor()
  portal.redis?.signal('SIGCONT')
  await tryAgain(page, 'Profile')
  t.equal(page.url(), `${portal.url}/portal/profile`)
  t.equal(await page.getByLabel('First name').inputValue(), 'Ada')
})

test('an outage while a key is revealed is reported beside its form', async (_t, portal) => {
  const { page } = await portal.createPerson()
  await page.getByText('Reveal the secret key').click()
  await page.locator('#secretKey-reveal-password').fill(goodPassword)
  portal.redis?.signal('SIGSTOP')
  await page.locator('#secretKey-reveal-password').press('Enter')
  await page.getByRole('alert').filter({ hasText: 'This page is temporarily unavailable.' }).waitFor()
  portal.redis?.signal('SIGCONT')
})

/** Follows the link as often as it leads to the same page. */
async function tryAgain(page: Page, heading: string): Promise<void> {
  await until(
    `${heading} is there`,
    async () => {
      await page.getByRole('link', { name: 'Try again' }).click()
      return (await page.getByRole('heading', { level: 1 }).textContent()) === heading || undefined
    },
    30_000,
  )
}
