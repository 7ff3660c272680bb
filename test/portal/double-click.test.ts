import t from 'tap'
import { goodPassword, portalTests, statusWith } from './support/portal.ts'

const test = portalTests(t, { config: { keys: { sealingKey: { file: 'sealing.key' }, reveal: false } } })

test('keys that are shown once are not lost to a double click', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  await page.goto(`${portal.url}/portal/accounts/import`)
  await page.getByLabel('Or paste it here').fill('{"email":"one@example.com"}')
  await page.getByRole('button', { name: 'Import' }).dblclick()
  await page.getByText('1 account made.').waitFor()
  await page.getByRole('region', { name: 'Keys as CSV' }).waitFor()

  await page.goto(`${portal.url}/portal/accounts/new`)
  await page.getByLabel('E-mail', { exact: true }).fill('two@example.com')
  await page.getByRole('button', { name: 'Create account' }).dblclick()
  await page.getByText('The account has been made').waitFor()

  await page.goto(`${portal.url}/portal/integration`)
  await page.getByText('Reset the secret…').click()
  await page.locator('#secretKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Reset the secret' }).dblclick()
  await page.getByText('no copy of it is kept').waitFor()
  const fresh = (await page.locator('[data-key="secretKey"] code').textContent()) ?? ''
  t.equal(await statusWith(portal, fresh), 200)
})

test('a form that got no answer can be sent again after ten seconds', async (t, portal) => {
  const { page } = await portal.createPerson()
  await page.clock.install()
  await page.goto(`${portal.url}/portal/profile`)
  let asked = 0
  await page.route('**/profile/name', async (route) => {
    asked++
    if (asked > 1) return route.continue()
    // As where a browser is told to stop: it stays on the page.
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
