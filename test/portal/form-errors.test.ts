import type { Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { goodPassword, type Person, type Portal, portalTests } from './support/portal.ts'

const test = portalTests(t)
const testImpatient = portalTests(t, { config: { limits: { failures: { limit: 1, per: '1h' } } } })

/** Shows but one form. */
const viewport = { width: 375, height: 500 }

const looks = { 'with a script': {}, 'without a script': { javaScriptEnabled: false } } as const

for (const [how, options] of Object.entries(looks)) {
  test(`${how}, a refused form has the focus at the field that is wrong, in view and described`, async (t, portal) => {
    const page = await smallWindow(portal, await portal.createPerson(), options)
    await page.goto(`${portal.url}/portal/profile`)
    await changePassword(page, 'not the password', 'a better password')
    t.equal(await saidOf(t, page, 'current'), 'The current password is wrong.')

    await changePassword(page, goodPassword, 'a better password', 'another password')
    t.equal(await saidOf(t, page, 'again'), 'The passwords do not match.')

    await page.goto(`${portal.url}/portal/integration`)
    await page.getByText('Reset the API key…').click()
    await page.locator('#apiKey-reset-password').fill('not the password')
    await page.getByRole('button', { name: 'Reset the API key' }).click()
    t.equal(await saidOf(t, page, 'apiKey-reset-password'), 'The password is wrong.')
  })
}

testImpatient('what is wrong with a whole form has the focus too, in view', async (t, portal) => {
  const page = await smallWindow(portal, await portal.createPerson(), { javaScriptEnabled: false })
  await page.goto(`${portal.url}/portal/profile`)
  for (let attempt = 0; attempt < 6; attempt++) {
    await changePassword(page, 'not the password', 'a better password')
    if ((await page.getByRole('alert').count()) > 0) break
  }
  const alert = page.locator('[role=alert]:focus')
  t.match(await alert.textContent(), 'Try again in')
  t.equal(await isInView(alert), true)
})

test('a new key is in view without the script too, with the focus at its message', async (t, portal) => {
  const page = await smallWindow(portal, await portal.createPerson(), { javaScriptEnabled: false })
  await page.goto(`${portal.url}/portal/integration`)
  await page.getByText('Reset the API key…').click()
  await page.locator('#apiKey-reset-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Reset the API key' }).click()
  const notice = page.locator('[role=status]:focus')
  t.equal(await notice.textContent(), 'New API key. Copy it now; the old one is revoked.')
  t.equal(await isInView(notice), true)
})

test('the message of a page has the focus, so that it is read out', async (t, portal) => {
  const { page } = await portal.createPerson()
  t.match(await page.locator('[role=status]:focus').textContent(), 'Your password is set')
})

/** Of somebody who is signed in, in a small window. */
async function smallWindow(portal: Portal, { visitor }: Person, options: { javaScriptEnabled?: boolean }) {
  const { context, page } = await portal.visit({ ...options, viewport })
  await context.addCookies(await visitor.context.cookies())
  return page
}

async function changePassword(page: Page, current: string, fresh: string, again = fresh): Promise<void> {
  await page.getByLabel('Current password').fill(current)
  await page.getByLabel('New password', { exact: true }).fill(fresh)
  await page.getByLabel('New password, again').fill(again)
  await page.getByRole('button', { name: 'Change password' }).click()
}

/** @returns what is said of a field, once it has the focus */
async function saidOf(t: Test, page: Page, id: string): Promise<string | null> {
  const field = page.locator(`#${id}[aria-invalid=true]:focus`)
  await field.waitFor()
  t.equal(await isInView(field), true, `${id} is in view`)
  return page.locator(`#${await field.getAttribute('aria-describedby')}`).textContent()
}

async function isInView(place: Locator): Promise<boolean> {
  const { y = -1, height = 0 } = (await place.boundingBox()) ?? {}
  return y >= 0 && y + height <= viewport.height
}
