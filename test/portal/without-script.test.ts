import t from 'tap'
import { until } from '../setup/net.ts'
import { goodPassword, portalTests, statusWith } from './support/portal.ts'

const test = portalTests(t)

test('all of it works without a script: set-up, reveal, reset, sessions, profile, accounts', async (t, portal) => {
  const { setupUrl, secretKey, email } = await portal.createAccount({ role: 'Admin' })
  const { page } = await portal.visit({ javaScriptEnabled: false })
  await page.goto(setupUrl)
  await page.getByLabel('Set-up link').fill(setupUrl)
  await page.getByLabel('Password', { exact: true }).fill(goodPassword)
  await page.getByLabel('Password, again').fill(goodPassword)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('Your password is set').waitFor()
  t.equal(await page.getByRole('button', { name: 'Copy' }).count(), 0, 'no button that would do nothing')

  await page.getByText('Reveal the secret').click()
  await page.locator('#secretKey-reveal-password').fill('wrong')
  await page.getByRole('button', { name: 'Reveal', exact: true }).first().click()
  await page.getByText('The password is wrong.').waitFor()
  await page.locator('#secretKey-reveal-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Reveal', exact: true }).first().click()
  await page.getByText(secretKey).first().waitFor()

  await page.goto(`${portal.url}/portal/integration`)
  await page.getByText('JavaScript', { exact: true }).click()
  await page.getByRole('region', { name: 'JavaScript, with the secret' }).waitFor()
  await page.getByText('Reset the secret…').click()
  await page.getByText('24 hours').click()
  await page.locator('#secretKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Reset the secret' }).click()
  await page.getByText('Two secrets work.').waitFor()
  t.equal(await statusWith(portal, secretKey), 200)
  await until('the use shows', async () => {
    await page.goto(`${portal.url}/portal/integration`)
    return (await page.getByText('It is still in use').count()) === 1
  })
  t.equal(await page.getByRole('button', { name: 'End it now' }).isVisible(), false, 'asks first')
  await page.getByText('End it now…').click()
  await page.getByRole('button', { name: 'End it now' }).click()
  await page.getByText('The old secret has ended.').waitFor()
  t.equal(await statusWith(portal, secretKey), 401)

  await page.getByRole('button', { name: 'Send request' }).click()
  await page.getByRole('heading', { name: 'The backend saw' }).waitFor()
  await page.getByRole('link', { name: 'Profile' }).click()
  await page.getByLabel('First name').fill('Grace')
  await page.getByRole('button', { name: 'Save name' }).click()
  await page.getByText('The name has been saved.').waitFor()
  await page.getByRole('link', { name: 'Accounts' }).click()
  await page.getByRole('link', { name: email }).click()
  await page.getByRole('button', { name: 'Make a link' }).click()
  await page.getByText('A set-up link has been made').waitFor()
  await page.getByRole('link', { name: 'Sessions' }).click()
  await page.getByText('Sign out everywhere…').click()
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByText('You are signed out everywhere.').waitFor()
})
