import t from 'tap'
import { goodPassword, portalTests, signIn, statusWith } from './support/portal.ts'

const test = portalTests(t, { driver: 'redis' })

const secretBox = '[data-key="secretKey"] code'

test('on Redis a person signs in, reveals the secret key and resets it: the old one is refused at once', async (t, portal) => {
  const { email, secretKey } = await portal.createPerson()
  const { page } = await portal.visit()
  await signIn(page, portal, { email, password: goodPassword })
  await page.waitForURL('**/integration')
  t.equal(await statusWith(portal, secretKey), 200)

  await page.getByText('Reveal the secret key').click()
  await page.locator('#secretKey-reveal-password').fill(goodPassword)
  await page.locator('#secretKey-reveal-password').press('Enter')
  await page.getByText('Shown for one minute.').waitFor()
  t.equal(await page.locator(secretBox).textContent(), secretKey)

  await page.getByText('Reset the secret key…').click()
  await page.getByText('Revoke now').first().click()
  await page.locator('#secretKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Reset the secret key' }).click()
  await page.getByText('New secret key. Copy it now').waitFor()
  const fresh = (await page.locator(secretBox).textContent()) ?? ''
  t.equal(await statusWith(portal, secretKey), 401)
  t.equal(await statusWith(portal, fresh), 200)

  await page.getByRole('button', { name: 'Send request' }).click()
  await page.getByRole('heading', { name: 'The backend received' }).waitFor()
})

test('on Redis an overlap is watched and ended, browsers are signed out, an Admin finds it all', async (t, portal) => {
  const person = await portal.createPerson()
  const { page, secretKey, email } = person
  await page.getByText('Reset the secret key…').click()
  await page.locator('#secretKey').getByText('1 hour').click()
  await page.locator('#secretKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Reset the secret key' }).click()
  await page.getByText('Two secret keys are valid.').waitFor()
  t.equal(await statusWith(portal, secretKey), 200)
  await page.getByText('Still in use: last used just now from 127.0.0.1.').waitFor()
  t.equal(await page.getByRole('button', { name: 'Revoke now' }).isVisible(), false, 'asks first')
  await page.getByText('Revoke now…').click()
  await page.getByText('Clients that still use the old secret key will be rejected.').waitFor()
  await page.getByRole('button', { name: 'Revoke now' }).click()
  await page.getByText('The old secret key is revoked.').waitFor()
  t.equal(await statusWith(portal, secretKey), 401)

  const other = await portal.visit()
  await signIn(other.page, portal, { email, password: goodPassword })
  await other.page.waitForURL('**/integration')
  await page.getByRole('link', { name: 'Sessions' }).click()
  t.equal(await page.locator('tbody tr').count(), 2)
  await page.getByText('Sign out everywhere…').click()
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByText('You are signed out everywhere.').waitFor()
  await other.page.goto(`${portal.url}/portal/profile`)
  t.match(other.page.url(), '/portal/sign-in')

  const admin = await portal.createPerson({ role: 'Admin' })
  await admin.page.goto(`${portal.url}/portal/accounts?q=${email}`)
  await admin.page.getByRole('link', { name: email }).click()
  await admin.page.locator('main').getByRole('link', { name: 'Audit' }).click()
  await admin.page.getByRole('combobox', { name: 'Action' }).selectOption('secret-key-overlap-ended')
  await admin.page.getByRole('button', { name: 'Filter' }).click()
  await admin.page.waitForURL(/action=secret-key-overlap-ended/)
  t.equal(await admin.page.locator('tbody tr').count(), 1)
})
