import t from 'tap'
import { storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { findBarriers } from './support/axe.ts'
import { goodPassword, portalTests, setUp, signIn } from './support/portal.ts'

for (const driver of storeDrivers) {
  const test = portalTests(t, { driver })
  test(`the set-up link of the command line sets a password that signs in (${driver})`, async (t, portal) => {
    const account = await portal.createAccount({ email: 'ada@example.com' })
    t.match(account.setupUrl, `${portal.url}/portal/setup#`)
    const { page, urls, context } = await portal.visit()
    await page.goto(account.setupUrl)
    t.equal(new URL(page.url()).hash, '', 'the token is gone from the address')
    t.strictSame(await findBarriers(page), [])
    await setUp(page, account.setupUrl, goodPassword)
    const heading = page.getByRole('heading', { level: 1 })
    await until('the keys are shown', async () => {
      if ((await heading.textContent()) === 'Integration') return true
      // On a busy machine Redis may not answer in time: that page says so, and nothing is lost.
      t.equal(await heading.textContent(), 'Temporarily unavailable')
      await page.reload()
      return undefined
    })
    t.ok(await page.getByText('Your password is set').isVisible())
    t.strictSame(await findBarriers(page), [])
    await context.clearCookies()
    await signIn(page, portal, { email: 'ADA@example.com', password: goodPassword })
    await page.waitForURL('**/portal/integration')
    const [, token = ''] = account.setupUrl.split('#')
    t.notOk(
      urls.some((url) => url.split('#')[0]?.includes(token)),
      'the token was in no URL that was sent',
    )
  })
}

const test = portalTests(t)

test('a set-up link works once, and only the latest one', async (t, portal) => {
  const account = await portal.createAccount()
  const last = (await portal.command('accounts', 'setup-link', account.email)) as { setupUrl: string }
  const { page, context } = await portal.visit()
  const choose = async (link: string) => {
    await context.clearCookies()
    // A link that differs in its fragment alone would not reload the page.
    await page.goto('about:blank')
    await page.goto(link)
  }
  const password = page.getByLabel('Password', { exact: true })
  const refusal = page.getByText('The link has expired, was already used')
  await choose(account.setupUrl)
  await refusal.waitFor()
  t.equal(await password.count(), 0, 'told before anything is typed')
  await choose(last.setupUrl)
  await page.getByText('The link expires in 1 day.').waitFor()
  await password.fill(goodPassword)
  await page.getByLabel('Password, again').fill(goodPassword)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.waitForURL('**/integration')
  await choose(last.setupUrl)
  await refusal.waitFor()
  t.strictSame(await findBarriers(page), [])
  await signIn(page, portal, { email: account.email, password: goodPassword })
  await page.waitForURL('**/portal/integration')
})

test('a common password, or one repeated differently, is reported at its field', async (t, portal) => {
  const { setupUrl, email } = await portal.createAccount()
  const { page } = await portal.visit({ javaScriptEnabled: false })
  const password = page.getByLabel('Password', { exact: true })
  const choose = async (first: string, again: string) => {
    await password.fill(first)
    await page.getByLabel('Password, again').fill(again)
    await page.locator('form').evaluate((form) => form.setAttribute('novalidate', ''))
    await page.getByRole('button', { name: 'Set password' }).click()
  }
  await page.goto(`${portal.url}/portal/setup`)
  await page.getByLabel('Set-up link').fill(setupUrl)
  await page.getByRole('button', { name: 'Continue' }).click()
  await choose('eleven char', 'eleven char')
  await page.getByText('Must have at least 12 characters.').waitFor()
  t.equal(await password.getAttribute('aria-invalid'), 'true')
  t.equal(await page.getByLabel('Set-up link').count(), 0, 'the link still works, and so is not shown')
  t.equal(await password.inputValue(), '', 'but no password')
  await choose('Password1234', 'Password1234')
  await page.getByText('This password is too common').waitFor()
  await choose(email, email)
  await page.getByText('Must not consist mostly of your e-mail or name.').waitFor()
  await choose(goodPassword, 'something else!')
  await page.getByText('The passwords do not match.').waitFor()
  await choose('twelve chars', 'twelve chars')
  await page.waitForURL('**/integration')
})

test('the set-up page hides a filled-in link, and asks for another if it does not work', async (t, portal) => {
  const { setupUrl, email } = await portal.createAccount()
  const [, token = ''] = setupUrl.split('#')
  const { page } = await portal.visit()
  const choose = async (password: string) => {
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByLabel('Password, again').fill(password)
    await page.getByRole('button', { name: 'Set password' }).click()
  }
  await page.goto(setupUrl)
  await choose('Password1234')
  await page.getByText('This password is too common').waitFor()
  t.equal(await page.getByLabel('Set-up link').count(), 0)
  t.notMatch(await page.locator('body').innerText(), token)
  t.equal(await page.locator(`input:visible[value="${token}"]`).count(), 0)
  t.strictSame(await findBarriers(page), [])
  await portal.command('accounts', 'setup-link', email)
  await choose(goodPassword)
  await page.getByText('The link has expired, was already used').waitFor()
  t.equal(await page.getByLabel('Set-up link').inputValue(), '')
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('link', { name: 'sign in' }).click()
  await page.waitForURL('**/portal/sign-in')
})
