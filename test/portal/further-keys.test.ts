import type { Page } from 'playwright-core'
import t from 'tap'
import { findBarriers } from './support/axe.ts'
import { goodPassword, portalTests, statusWith } from './support/portal.ts'

const test = portalTests(t)

test('a further key is created, used and revoked', async (t, portal) => {
  const { page, secretKey } = await portal.createPerson()
  const card = page.locator('#further-keys')
  t.match(await card.textContent(), 'No further keys')
  await card.getByText('Create a key').click()
  await card.getByLabel('Name').fill('c i')
  await card.getByLabel('Your password').fill(goodPassword)
  await card.getByRole('button', { name: 'Create' }).click()
  await page.locator('#new-key-name-error').waitFor()
  t.strictSame(await findBarriers(page), [])
  await card.getByLabel('Name').fill('ci')
  await card.getByLabel('Your password').fill('not the password')
  await card.getByRole('button', { name: 'Create' }).click()
  await card.getByText('The password is wrong.').waitFor()
  await card.getByLabel('Your password').fill(goodPassword)
  await card.getByRole('button', { name: 'Create' }).click()
  await card.getByText('Copy it now').waitFor()
  t.strictSame(await findBarriers(page), [])
  const key = (await card.locator('.secret code').textContent()) ?? ''
  t.equal(await statusWith(portal, key), 200)
  await page.goto(`${portal.url}/portal/integration`)
  t.notMatch(await page.content(), key, 'it is shown once')
  t.match(await card.locator('tbody').textContent(), 'ci')
  await card.getByText('Revoke…').click()
  await card.getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('The key is revoked.').waitFor()
  t.equal(await statusWith(portal, key), 401)
  t.equal(await statusWith(portal, secretKey), 200, 'no other key is affected')
  t.match(await card.textContent(), 'No further keys')
})

test('an Admin sees the further keys of an account, and revokes one', async (t, portal) => {
  const owner = await portal.createPerson()
  const key = await createKeyOf(owner.page)
  t.equal(await statusWith(portal, key), 200)
  const { page } = await portal.createPerson({ role: 'Admin' })
  await page.goto(`${portal.url}/portal/accounts/${owner.id}`)
  const card = page.locator('#further-keys')
  t.match(await card.locator('tbody').textContent(), 'ci')
  await card.getByText('Revoke…').click()
  t.strictSame(await findBarriers(page), [])
  await card.getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('The key is revoked.').waitFor()
  t.equal(page.url(), `${portal.url}/portal/accounts/${owner.id}`)
  t.equal(await statusWith(portal, key), 401)
  t.equal(await statusWith(portal, owner.secretKey), 200, 'no other key is affected')
  t.equal(await card.count(), 0)
})

/** Creates a key called `ci` on the page Integration, where it is. @returns the key */
async function createKeyOf(page: Page): Promise<string> {
  const card = page.locator('#further-keys')
  await card.getByText('Create a key').click()
  await card.getByLabel('Name').fill('ci')
  await card.getByLabel('Your password').fill(goodPassword)
  await card.getByRole('button', { name: 'Create' }).click()
  await card.getByText('Copy it now').waitFor()
  return (await card.locator('.secret code').textContent()) ?? ''
}

test('a key is created with limits, which its row shows', async (t, portal) => {
  const { page } = await portal.createPerson()
  const card = page.locator('#further-keys')
  await card.getByText('Create a key').click()
  await card.getByLabel('Name').fill('ci')
  await card.getByLabel('Scopes').fill('orders:read, orders:write')
  await card.getByLabel('Addresses').fill('10.0.0.0/8')
  await card.getByLabel('Your password').fill(goodPassword)
  await card.getByRole('button', { name: 'Create' }).click()
  await card.getByText('Copy it now').waitFor()
  const key = (await card.locator('.secret code').textContent()) ?? ''
  t.equal(await statusWith(portal, key), 403, 'from another address')
  const row = await card.locator('tbody').textContent()
  t.match(row, 'orders:read, orders:write')
  t.match(row, '10.0.0.0/8')
  t.match(row, /\d{1,2} [A-Z][a-z]{2} \d{4}/, 'the day on which it expires')
})
