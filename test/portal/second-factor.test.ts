import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { startMailServer } from '../setup/mail-server.ts'
import { until } from '../setup/net.ts'
import { findBarriers } from './support/axe.ts'
import { goodPassword, portalTests, signIn } from './support/portal.ts'

const { port, mails } = await startMailServer(t)
const mail = { host: '127.0.0.1', port, security: 'none', from: 'gatehouse@example.com', notices: false }
const test = portalTests(t, { config: { mail, portal: { requireSecondFactor: 'admins' } } })

test('an Admin sets up codes, signs in with one, and replaces a forgotten password', async (t, portal) => {
  const { setupUrl, email, id } = await portal.createAccount({ role: 'Admin', email: 'ada@example.com' })
  const { page, context } = await portal.visit()
  await page.goto(setupUrl)
  await page.getByLabel('Password', { exact: true }).fill(goodPassword)
  await page.getByLabel('Password, again').fill(goodPassword)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('Set up two-factor sign-in to continue').waitFor()
  await page.goto(`${portal.url}/portal/audit`)
  await page.getByText('Set up two-factor sign-in to continue').waitFor()
  t.strictSame(await findBarriers(page), [])
  const picture = page.getByAltText('QR code for the authenticator app')
  t.ok(await picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth > 0))

  const secret = (await page.locator('.enrol code').innerText()).replaceAll(/\s/g, '')
  const app = new TOTP({ secret: Secret.fromBase32(secret) })
  const turnOn = async (code: string) => {
    await page.getByLabel('Code from the app').fill(code)
    await page.getByLabel('Your password').fill(goodPassword)
    await page.getByRole('button', { name: 'Turn on' }).click()
  }
  await turnOn('000000')
  await page.getByText('The code is wrong or too old.').waitFor()
  t.strictSame(await findBarriers(page), [])
  const used = app.generate()
  await turnOn(used)
  const codes = await page.getByRole('region', { name: 'Recovery codes' }).innerText()
  const [recovery = '', second = ''] = codes.trim().split('\n')
  t.match(recovery, /^\w{5}-\w{5}$/)
  t.strictSame(await findBarriers(page), [])
  await page.goto(`${portal.url}/portal/audit`)
  await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()

  await context.clearCookies()
  await signIn(page, portal, { email, password: goodPassword })
  const sendCode = async (code: string) => {
    await page.getByLabel('Code').fill(code)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }
  await page.getByRole('heading', { name: 'Enter the code' }).waitFor()
  t.strictSame(await findBarriers(page), [])
  await sendCode(used)
  await page.getByText('was used before').waitFor()
  await sendCode(app.generate({ timestamp: Date.now() + 30_000 }))
  await page.waitForURL('**/portal/integration')

  await context.clearCookies()
  await page.goto(`${portal.url}/portal/sign-in`)
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Send link' }).click()
  await page.getByText('is on its way').waitFor()
  t.strictSame(await findBarriers(page), [])
  const text = await until('the mail is there', () => mails[0])
  const [link = ''] = /http:\S+#gpr_\w+/.exec(text.replaceAll('=\r\n', '')) ?? []
  await page.goto(link)
  const next = 'another good password'
  await page.getByLabel('Password', { exact: true }).fill(next)
  await page.getByLabel('Password, again').fill(next)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('Sign in with it and your code.').waitFor()
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(next)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await sendCode(recovery)
  await page.waitForURL('**/portal/integration')
  await page.goto('about:blank')
  await page.goto(link)
  await page.getByText('The link has expired').waitFor()
  t.equal(await page.getByLabel('Password', { exact: true }).count(), 0)

  await page.goto(`${portal.url}/portal/profile/two-factor`)
  await page.getByText('9 of 10').waitFor()
  await page.locator('#disable-code').fill(second)
  await page.locator('#disable-password').fill(next)
  await page.getByRole('button', { name: 'Turn off two-factor sign-in' }).click()
  await page.getByText('Two-factor sign-in is off.').waitFor()
  t.strictSame(await portal.command('accounts', 'reset-second-factor', email), { id, wasReset: false })
})

test('another Admin removes the second factor of somebody who lost it', async (_t, portal) => {
  const { page } = await portal.createPerson({ email: 'bob@example.com' })
  await page.goto(`${portal.url}/portal/profile/two-factor`)
  const secret = (await page.locator('.enrol code').innerText()).replaceAll(/\s/g, '')
  await page.getByLabel('Code from the app').fill(new TOTP({ secret: Secret.fromBase32(secret) }).generate())
  await page.getByLabel('Your password').fill(goodPassword)
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('region', { name: 'Recovery codes' }).waitFor()
  await portal.command('accounts', 'reset-second-factor', 'bob@example.com')
  await page.goto(`${portal.url}/portal/profile`)
  await page.getByText('Off', { exact: true }).waitFor()
})
