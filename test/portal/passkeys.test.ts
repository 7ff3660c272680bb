import type { CDPSession, Page } from 'playwright-core'
import t from 'tap'
import { findBarriers } from './support/axe.ts'
import { goodPassword, portalTests, signIn } from './support/portal.ts'

// needs: chromium

const test = portalTests(t, { host: 'localhost' })

/** A device that keeps passkeys, in a browser; whoever sits there is recognised. */
async function addDevice(page: Page, over: { isUserVerified?: boolean } = {}) {
  const cdp: CDPSession = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: over.isUserVerified ?? true,
    },
  })
  return { cdp, authenticatorId }
}

async function addPasskey(page: Page, url: string, name: string) {
  await page.goto(`${url}/portal/profile/two-factor`)
  await page.getByText('Add a passkey…').click()
  await page.locator('#passkey-name').fill(name)
  await page.locator('#passkey-password').fill(goodPassword)
  await page.getByRole('button', { name: 'Add passkey' }).click()
}

test('a passkey is added, signs in with and without the password, and no more once it is removed', async (t, portal) => {
  const { page, email, visitor } = await portal.createPerson()
  await addDevice(page)
  await addPasskey(page, portal.url, 'Laptop')
  const codes = await page.getByRole('region', { name: 'Recovery codes' }).innerText()
  t.match(codes.trim().split('\n')[0], /^\w{5}-\w{5}$/)
  t.strictSame(await findBarriers(page), [])
  await page.goto(`${portal.url}/portal/profile/two-factor`)
  await page.getByRole('cell', { name: 'Laptop' }).waitFor()
  t.strictSame(await findBarriers(page), [])

  await visitor.context.clearCookies()
  await signIn(page, portal, { email, password: goodPassword })
  await page.getByRole('button', { name: 'Use a passkey' }).waitFor()
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.waitForURL('**/portal/integration')

  await visitor.context.clearCookies()
  await page.goto(`${portal.url}/portal/sign-in`)
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.waitForURL('**/portal/integration')

  await page.goto(`${portal.url}/portal/profile/two-factor`)
  await page.locator('summary', { hasText: 'Remove…' }).click()
  await page.getByRole('link', { name: 'confirm with a passkey' }).first().click()
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('button', { name: 'Confirm with a passkey' }).click()
  await page.waitForURL('**/portal/profile/two-factor')
  await page.locator('summary', { hasText: 'Remove…' }).click()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('The passkey is removed').waitFor()

  await visitor.context.clearCookies()
  await page.goto(`${portal.url}/portal/sign-in`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText('The passkey was not accepted').waitFor()
  t.strictSame(await findBarriers(page), [])
  await signIn(page, portal, { email, password: goodPassword })
  await page.waitForURL('**/portal/integration')
})
