import type { Page } from 'playwright-core'
import t from 'tap'
import { goodPassword, portalTests } from './support/portal.ts'

const test = portalTests(t)

test('the first Tab leads past the navigation, into the content', async (t, portal) => {
  const { page } = await portal.createPerson()
  await page.goto(`${portal.url}/portal/sessions`)
  await page.keyboard.press('Tab')
  t.equal(await focused(page), 'Skip to content')
  await page.keyboard.press('Enter')
  t.equal(await page.evaluate('document.activeElement.id'), 'main')
  await page.keyboard.press('Tab')
  t.match(await focused(page), /^Sign out session /)
})

test('a secret is revealed by keyboard alone, with the focus where one goes on', async (t, portal) => {
  const { page, secretKey } = await portal.createPerson()
  await page.getByText('Reveal the secret key').focus()
  await page.keyboard.press('Enter')
  await page.locator('[data-reveal=secretKey] input:focus').waitFor()
  await page.keyboard.type('not the password')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'The password is wrong.' }).waitFor()
  await page.keyboard.type(goodPassword)
  await page.keyboard.press('Enter')
  await page.getByRole('status').filter({ hasText: 'Shown for one minute.' }).waitFor()
  t.equal(await page.evaluate('document.activeElement.ariaLabel'), 'Copy: the secret key')
  t.equal(await page.locator('[data-key="secretKey"] code').textContent(), secretKey)
})

test('the languages of the lines to paste are chosen by the arrow keys', async (t, portal) => {
  const { page } = await portal.createPerson()
  await page.getByLabel('curl', { exact: true }).focus()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('region', { name: 'JavaScript, with the secret key' }).waitFor()
  t.equal(await page.getByRole('region', { name: 'curl, with the secret key' }).count(), 0)
})

function focused(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.textContent')
}
