import type { CDPSession, Page } from 'playwright-core'
import t from 'tap'
import { findBarriers } from './support/axe.ts'
import { goodPassword, portalTests, signIn } from './support/portal.ts'

const test = portalTests(t, { host: 'localhost' })

/** A device that keeps passkeys, in a browser; whoever sits there is recognised. */
async function addDevice(page: Page, over: { isUserVerified?: boolean; hasUserVerification?: boolean } = {}) {
  const cdp: CDPSession = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      ...over,
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

test('nothing is left on a device that is not added, and one device has one passkey', async (t, portal) => {
  const { page } = await portal.createPerson()
  const { cdp, authenticatorId } = await addDevice(page)
  const kept = async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials
  await page.goto(`${portal.url}/portal/profile/two-factor`)
  await page.getByText('Add a passkey…').click()
  await page.locator('#passkey-password').fill('wrong')
  await page.getByRole('button', { name: 'Add passkey' }).click()
  await page.getByText('The password is wrong.').waitFor()
  t.equal(await page.evaluate('document.activeElement.id'), 'passkey-password')
  t.strictSame(await findBarriers(page), [])
  t.equal((await kept()).length, 0)
  await page.locator('#passkey-password').fill(goodPassword)
  await page.keyboard.press('Enter')
  const codes = await page.getByRole('region', { name: 'Recovery codes' }).innerText()
  const [credential] = await kept()
  t.equal(credential?.rpId, 'localhost')
  t.not(Buffer.from(credential?.userHandle ?? '', 'base64').toString(), '', 'it tells whose it is')

  await page.goto(`${portal.url}/portal/profile/two-factor`)
  await page.locator('summary', { hasText: 'Rename…' }).focus()
  await page.keyboard.press('Enter')
  await page.getByLabel('New name').fill('Work laptop')
  await page.keyboard.press('Enter')
  await page.getByText('The passkey is renamed.').waitFor()
  await page.getByRole('cell', { name: 'Work laptop' }).waitFor()

  await page.getByText('Add a passkey…').click()
  await page.locator('#passkey-password').fill(goodPassword)
  await page.locator('#passkey-code').fill(codes.trim().split('\n')[0] ?? '')
  await page.getByRole('button', { name: 'Add passkey' }).click()
  await page.getByText('This device has a passkey for this account already.').waitFor()
  t.equal((await kept()).length, 1)
})

test('a device that does not recognise its user signs nobody in without the password', async (_t, portal) => {
  const { page, visitor } = await portal.createPerson()
  const { cdp, authenticatorId } = await addDevice(page)
  await addPasskey(page, portal.url, 'Laptop')
  await page.getByRole('region', { name: 'Recovery codes' }).waitFor()
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
  await visitor.context.clearCookies()
  await page.goto(`${portal.url}/portal/sign-in`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText('No passkey was used').waitFor()
})

test('a device that cannot verify its user is a second factor', async (_t, portal) => {
  const { page, email, visitor } = await portal.createPerson()
  await addDevice(page, { hasUserVerification: false, isUserVerified: false })
  await addPasskey(page, portal.url, 'Security key')
  await page.getByRole('region', { name: 'Recovery codes' }).waitFor()
  await visitor.context.clearCookies()
  await signIn(page, portal, { email, password: goodPassword })
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.waitForURL('**/portal/integration')
})

test('at another origin, and without JavaScript, the page says what passkeys need', async (t, portal) => {
  const elsewhere = portal.url.replace('localhost', '127.0.0.1')
  const { page } = await portal.visit()
  await addDevice(page)
  await page.goto(`${elsewhere}/portal/sign-in`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText(`Passkeys work only at ${portal.url}`).waitFor()
  const refusal = await page.evaluate(`navigator.credentials
    .get({ publicKey: { challenge: new Uint8Array(32), rpId: 'localhost' } })
    .catch(({ name }) => name)`)
  t.equal(refusal, 'SecurityError', 'the browser refuses too')

  const { page: plain } = await portal.visit({ javaScriptEnabled: false })
  await plain.goto(`${portal.url}/portal/sign-in`)
  t.equal(await plain.locator('noscript p').innerText(), 'Passkeys need JavaScript.')
  await plain.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await plain.getByText('Passkeys need JavaScript, and a browser that supports them.').waitFor()
})
