import t from 'tap'
import { findBarriers } from './support/axe.ts'
import { goodPassword, portalTests, signIn } from './support/portal.ts'

const test = portalTests(t)

test('the profile saves a name, and shows a refused one again with its error', async (t, portal) => {
  const { page } = await portal.createPerson()
  await page.goto(`${portal.url}/portal/profile`)
  t.strictSame(await findBarriers(page), [])
  t.equal(await page.getByText('Verified', { exact: true }).count(), 1)
  await page.getByLabel('First name').fill('Augusta <Ada> & "King"')
  await page.getByRole('button', { name: 'Save name' }).click()
  await page.getByText('The name has been saved.').waitFor()
  t.equal(await page.getByLabel('First name').inputValue(), 'Augusta <Ada> & "King"')
  t.equal(await page.locator('.who strong').textContent(), 'Augusta <Ada> & "King" Lovelace')
  const long = 'x'.repeat(101)
  await page.getByLabel('Last name').evaluate((input, value) => {
    input.removeAttribute('maxlength')
    input.setAttribute('value', value)
  }, long)
  await page.getByRole('button', { name: 'Save name' }).click()
  await page.getByText('Must be at most 100 characters').waitFor()
  t.equal(await page.getByLabel('Last name').inputValue(), long)
})

test('a new password needs the current one, and signs out the other browsers', async (t, portal) => {
  const person = await portal.createPerson()
  const { page } = person
  const { page: other } = await portal.visit()
  await signIn(other, portal, person)
  await other.waitForURL('**/integration')
  const change = async (current: string, fresh: string) => {
    await page.goto(`${portal.url}/portal/profile`)
    await page.getByLabel('Current password').fill(current)
    await page.getByLabel('New password', { exact: true }).fill(fresh)
    await page.getByLabel('New password, again').fill(fresh)
    await page.getByRole('button', { name: 'Change password' }).click()
  }
  await change('not the password', 'a better password')
  await page.getByText('The current password is wrong.').waitFor()
  t.strictSame(await findBarriers(page), [])
  await change(goodPassword, 'a better password')
  await page.getByText('The password has been changed.').waitFor()
  await other.goto(`${portal.url}/portal/profile`)
  await other.getByText('Your session has ended.').waitFor()
  await signIn(other, portal, { email: person.email, password: 'a better password' })
  await other.waitForURL('**/integration')
})

test('without a mail server an administrator verifies, and the page says so', async (_t, portal) => {
  const { page } = await portal.createPerson()
  await page.goto(`${portal.url}/portal/profile`)
  await page.getByText('No mail server is configured').waitFor()
})
