import type { Page } from 'playwright-core'
import t from 'tap'
import { goodPassword, portalTests, statusWith } from './support/portal.ts'

const test = portalTests(t, { config: { keys: { sealingKey: { file: 'sealing.key' }, reveal: false } } })

test('keys that are shown once are not lost to a double click', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  await page.goto(`${portal.url}/portal/accounts/import`)
  await page.getByLabel('Or paste it here').fill('{"email":"one@example.com"}')
  await pressTwice(page, 'Import')
  await page.getByText('1 account created.').waitFor()
  await page.getByRole('region', { name: 'Keys as CSV' }).waitFor()

  await page.goto(`${portal.url}/portal/accounts/new`)
  await page.getByLabel('E-mail', { exact: true }).fill('two@example.com')
  await pressTwice(page, 'Create account')
  await page.getByText('Account created').waitFor()

  await page.goto(`${portal.url}/portal/integration`)
  await page.getByText('Reset the secret key…').click()
  await page.locator('#secretKey-reset-password').fill(goodPassword)
  await pressTwice(page, 'Reset the secret key')
  await page.getByText('it is not stored').waitFor()
  const fresh = (await page.locator('[data-key="secretKey"] code').textContent()) ?? ''
  t.equal(await statusWith(portal, fresh), 200)
})

test('a form that got no answer can be sent again after ten seconds', async (t, portal) => {
  const { page } = await portal.createPerson()
  await page.clock.install()
  await page.goto(`${portal.url}/portal/profile`)
  await page.clock.pauseAt(Date.now() + 3_600_000)
  let asked = 0
  await page.route('**/profile/name', async (route) => {
    asked++
    if (asked > 1) return route.continue()
    // As if the user stopped loading: the browser stays on the page.
    await route.fulfill({ status: 204 })
  })
  await page.getByLabel('First name').fill('Grace')
  const save = page.getByRole('button', { name: 'Save name' })
  const sent = page.waitForResponse('**/profile/name')
  await save.click()
  await sent
  await save.click()
  await page.clock.fastForward(9_000)
  await save.click()
  t.equal(asked, 1)
  await page.clock.fastForward(1_000)
  await save.click()
  await page.getByText('The name has been saved.').waitFor()
  t.equal(asked, 2)
})

/** Presses a button, and once more while the answer is on its way. */
async function pressTwice(page: Page, name: string): Promise<void> {
  const answered = Promise.withResolvers<void>()
  const pressed = Promise.withResolvers<void>()
  await page.route('**', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    const response = await route.fetch()
    answered.resolve()
    await pressed.promise
    await route.fulfill({ response })
  })
  const button = page.getByRole('button', { name })
  await button.scrollIntoViewIfNeeded()
  const { x = 0, y = 0 } = (await button.boundingBox()) ?? {}
  // By the mouse alone: pressing a button by its name waits for the answer.
  await page.mouse.click(x + 5, y + 5)
  await answered.promise
  await page.mouse.click(x + 5, y + 5)
  pressed.resolve()
}
