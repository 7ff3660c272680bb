import t from 'tap'
import { translationOf } from '#portal/texts/texts.ts'
import { states } from './page-states.ts'
import { findBarriers } from './support/axe.ts'
import { goodPassword, portalTests, statusWith } from './support/portal.ts'

const test = portalTests(t)

/** What is said only of a key that there is; the time of one that there is not would be in 1970. */
const saidOfKeys = /1970|Secret key created|Reveal the secret|Reset the secret|GATEHOUSE_SECRET_KEY='|…sk_/

test('an owner whose secret key was revoked is told so, and creates a new one', async (t, portal) => {
  const { page, email, secretKey } = await portal.createPerson()
  await portal.command('keys', 'revoke', email, 'default', '--yes')
  await page.goto(`${portal.url}/portal/integration`)
  const card = page.locator('#secretKey')
  await card.getByText('There is no secret key: it was revoked.').waitFor()
  t.notMatch(await page.locator('main').textContent(), saidOfKeys)
  t.notMatch(await card.textContent(), /Created|Last used|Keep the old/)
  await page.getByRole('button', { name: 'Send request' }).click()
  await page.locator('#try-it').getByText('There is no secret key: it was revoked.').waitFor()
  t.strictSame(await findBarriers(page), [])

  await card.getByText('Create a new secret key…').click()
  await page.locator('#secretKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Create a new secret key' }).click()
  await page.getByText('New secret key. Copy it now').waitFor()
  const fresh = (await card.locator('[data-key] code').textContent()) ?? ''
  t.equal(await statusWith(portal, fresh), 200)
  t.equal(await statusWith(portal, secretKey), 401)
})

test('an Admin sees that the secret key of an account was revoked, and creates a new one', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  const { id } = await portal.createAccount()
  await portal.command('keys', 'revoke', id, 'default', '--yes')
  await page.goto(`${portal.url}/portal/accounts/${id}`)
  await page.getByText('There is no secret key: it was revoked.').waitFor()
  t.notMatch(await page.locator('main').textContent(), saidOfKeys)
  t.strictSame(await findBarriers(page), [])

  await page.getByText('Create a new secret key…').click()
  await page.getByRole('button', { name: 'Create a new secret key' }).click()
  await page.getByText('Save this key and give it to the owner').waitFor()
  const fresh = (await page.locator('.secret code').textContent()) ?? ''
  t.equal(await statusWith(portal, fresh), 200)
  t.equal(await page.getByText('Secret key created').count(), 1)
})

test('a secret key that was revoked with a grace works until it ends or there is a new one', async (t, portal) => {
  const { page, email, secretKey } = await portal.createPerson()
  await portal.command('keys', 'revoke', email, 'default', '--grace', '1h')
  await page.goto(`${portal.url}/portal/integration`)
  await page.getByText('The revoked secret key still works.').waitFor()
  t.equal(await page.getByText('Two secret keys are valid.').count(), 0)
  t.equal(await statusWith(portal, secretKey), 200)
  await page.getByText('Create a new secret key…').click()
  await page.locator('#secretKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Create a new secret key' }).click()
  await page.getByText('New secret key. Copy it now; the old one is revoked.').waitFor()
  t.equal(await statusWith(portal, secretKey), 401)
})

t.test('who reads German is told of a revoked secret key in German', async (t) => {
  for (const name of ['integration-revoked', 'account-revoked-key']) {
    const page = String(states[name]?.(translationOf('de')))
    t.match(page, 'Es gibt keinen Geheimschlüssel: Er wurde widerrufen.', name)
    t.match(page, /<button class="primary">Neuen Geheimschlüssel erstellen<\/button>/, name)
    t.notMatch(page, /1970|Geheimschlüssel (erstellt|anzeigen|zurücksetzen)/, name)
  }
})
