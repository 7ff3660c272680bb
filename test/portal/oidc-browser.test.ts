import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { tempFolder } from '../cli/run.ts'
import { clientId, clientSecret, startOpenIdProvider } from '../setup/openid-provider.ts'
import { findBarriers } from './support/axe.ts'
import { portalTests } from './support/portal.ts'

/** Another site than the portal, as a provider is: browsers then keep `SameSite=Strict` cookies back. */
const provider = await startOpenIdProvider(t, 'localhost')
const secretFile = join(tempFolder(t), 'client-secret')
writeFileSync(secretFile, clientSecret)
const oidc = { issuer: provider.url, clientId, clientSecret: { file: secretFile }, label: 'Example ID' }
const app = {
  name: 'app',
  path: '/app',
  upstream: 'backend',
  auth: 'bearer',
  browser: { cookie: true, signIn: true },
}
const test = portalTests(t, {
  config: {
    portal: { oidc },
    accessCookie: { enabled: true },
    routes: [app, { name: 'any', path: '/any', upstream: 'backend', auth: 'any' }],
  },
})

async function signInAtProvider(page: Page, login: string): Promise<void> {
  await page.getByLabel('User').fill(login)
  await page.getByRole('button', { name: 'Continue' }).click()
}

test('a person signs in at a provider of another site, reveals a key, and signs out', async (t, portal) => {
  const { id, email, secretKey } = await portal.createAccount({ email: 'ada@example.com' })
  provider.people.set('ada', { email, email_verified: true })
  const { page } = await portal.visit()
  await page.goto(`${portal.url}/portal/sessions`)
  t.match(page.url(), '/portal/sign-in?next=%2Fsessions')
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('link', { name: 'Sign in with Example ID' }).click()
  await signInAtProvider(page, 'ada')
  await page.waitForURL('**/portal/sessions')
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor()
  await page.reload()
  t.match(page.url(), /\/portal\/sessions$/, 'the session stays')

  await page.getByRole('link', { name: 'Integration' }).click()
  await page.getByText('Reveal the secret key').click()
  const section = page.locator('[data-reveal-section]').first()
  t.equal(await section.locator('input[type=password]').count(), 0, 'there is no password to ask for')
  await section.getByRole('button', { name: 'Reveal' }).click()
  await section.getByText('First confirm with Example ID that it is you').waitFor()
  t.strictSame(await findBarriers(page), [])
  await section.getByRole('link', { name: 'confirm with Example ID' }).click()
  await signInAtProvider(page, 'ada')
  await page.waitForURL('**/portal/integration')
  await page.getByText('Reveal the secret key').click()
  await section.getByText('You have just confirmed that it is you.').waitFor()
  t.strictSame(await findBarriers(page), [])
  await section.getByRole('button', { name: 'Reveal' }).click()
  await page.getByText('Shown for one minute.').waitFor()
  t.equal(await page.locator('[data-key="secretKey"] code').textContent(), secretKey)

  const signOut = () =>
    page
      .getByRole('button', { name: /sign out/i })
      .first()
      .click()
  await signOut()
  await page.waitForURL(`${provider.url}/session/end**`)
  await page.getByRole('button', { name: 'Yes, sign me out' }).click()
  await page.waitForURL('**/portal/sign-in')
  await page.goto(`${portal.url}/portal/usage`)
  await page.getByRole('link', { name: 'Sign in with Example ID' }).click()
  await page.getByLabel('User').waitFor()
  await signInAtProvider(page, 'ada')
  await page.waitForURL('**/portal/usage')

  const { page: admin } = await portal.createPerson({ role: 'Admin' })
  await admin.goto(`${portal.url}/portal/accounts/${id}`)
  await admin.getByText(`${provider.url}: ada`).waitFor()
  t.strictSame(await findBarriers(admin), [])
  await admin.getByRole('button', { name: 'Unlink' }).click()
  await admin.getByText('The account is unlinked').waitFor()
  await page.reload()
  t.match(page.url(), '/portal/sign-in?next=%2Fusage')
  await page.getByText('Your session has ended').waitFor()
})

test('a sign-in that is refused says why, and where to go', async (t, portal) => {
  provider.people.set('eve', { email: 'eve@example.com', email_verified: true })
  const { page } = await portal.visit()
  await page.goto(`${portal.url}/portal/sign-in`)
  await page.getByRole('link', { name: 'Sign in with Example ID' }).click()
  await signInAtProvider(page, 'eve')
  await page.getByText('There is no account with your e-mail address').waitFor()
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('link', { name: 'Back to sign-in' }).click()
  await page.waitForURL('**/portal/sign-in')
})

test('a visit of a page behind the gateway comes back to it by the provider', async (t, portal) => {
  const { id, email } = await portal.createAccount({ email: 'bob@example.com' })
  provider.people.set('bob', { email, email_verified: true })
  const { page } = await portal.visit()
  const asked = `${portal.url}/app/page?a=1&b=%2F..%2F`
  await page.goto(asked)
  await page.getByRole('link', { name: 'Sign in with Example ID' }).click()
  await signInAtProvider(page, 'bob')
  await page.waitForURL(asked)
  t.match(await page.locator('body').innerText(), id, 'the backend knows who it is')
})
