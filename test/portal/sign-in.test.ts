import t from 'tap'
import { until } from '../setup/net.ts'
import { findBarriers } from './support/axe.ts'
import { goodPassword, portalTests, setUp, signIn } from './support/portal.ts'

const test = portalTests(t)
const testLimited = portalTests(t, { config: { limits: { failures: { limit: 2, per: '10m' } } } })
const testShort = portalTests(t, { config: { portal: { sessionLifetime: '2s' } } })

test('a wrong password and an unknown e-mail are refused alike, and what was typed stays', async (t, portal) => {
  const { email } = await portal.createPerson()
  const { page } = await portal.visit()
  for (const who of [email, 'nobody@example.com']) {
    await signIn(page, portal, { email: who, password: 'wrong password here' })
    await page.getByText('Wrong e-mail or password.').waitFor()
    t.equal(await page.getByLabel('E-mail').inputValue(), who)
    t.equal(await page.getByLabel('Password').inputValue(), '')
    t.strictSame(await findBarriers(page), [])
  }
  await page.goto(`${portal.url}/portal/integration`)
  t.match(page.url(), '/portal/sign-in?next=%2Fintegration', 'nobody is signed in')
})

testLimited(
  'beyond the limit of failed sign-ins the page says how long to wait; the correct password still passes',
  async (t, portal) => {
    const { email } = await portal.createPerson()
    const { page } = await portal.visit()
    for (let attempt = 0; attempt < 2; attempt++) {
      await signIn(page, portal, { email, password: 'wrong password here' })
      await page.getByText('Wrong e-mail or password').waitFor()
    }
    await signIn(page, portal, { email, password: 'wrong password here' })
    await page
      .getByText(
        /Too many invalid credentials were sent from this address; a valid one is still accepted\. Try again in/,
      )
      .waitFor()
    t.strictSame(await findBarriers(page), [])
    await signIn(page, portal, { email, password: goodPassword })
    await page.waitForURL('**/integration')
  },
)

test('strangers who guess passwords lock no one out of a browser that signed in before', async (t, portal) => {
  const { email, id, page } = await portal.createPerson()
  const { page: stranger } = await portal.visit()
  await stranger.goto(`${portal.url}/portal/sign-in`)
  const csrf = await stranger.locator('input[name="csrf"]').inputValue()
  const guess = async (password: string) => {
    const form = { csrf, email, password }
    const headers = { Accept: 'text/html' }
    return stranger.request.post(`${portal.url}/portal/sign-in`, { form, headers, maxRedirects: 0 })
  }
  for (let count = 0; count < 80; count++) {
    t.equal((await guess(`wrong password ${count}`)).status(), 403, `guess ${count}`)
  }
  const refused = await guess(goodPassword)
  t.equal(refused.status(), 429)
  t.equal(refused.headers()['retry-after'], '3600')
  t.match(await refused.text(), /a browser you have used before, or use a set-up link/)
  const lines = () => portal.output.stdout.split('\n').filter((line) => line.includes(`"accountId":"${id}"`))
  const isRefused = (line: string) => line.includes('"too-many-failures"')
  const refusedLine = await until('the refusal is logged', () => lines().find(isRefused))
  t.match(JSON.parse(refusedLine), { path: '/portal/sign-in', status: 429 })
  const last = lines().find((line) => line.includes('80 consecutive failures'))
  t.match(JSON.parse(last ?? '{}'), { code: 'credentials-invalid', status: 403 })
  await page
    .getByRole('button', { name: /sign out/i })
    .first()
    .click()
  await page.waitForURL('**/sign-in')
  await signIn(page, portal, { email, password: goodPassword })
  await page.waitForURL('**/integration')
  await signIn(stranger, portal, { email, password: goodPassword })
  await stranger.waitForURL('**/integration')
})

test('sign-in leads to the page first asked for, and never away from the portal', async (t, portal) => {
  const { email } = await portal.createPerson()
  const { page, context } = await portal.visit()
  const enter = async (next: string) => {
    await context.clearCookies()
    await page.goto(`${portal.url}/portal${next}`)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(goodPassword)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'))
    return page.url().slice(portal.url.length)
  }
  t.equal(await enter('/profile'), '/portal/profile')
  t.equal(await enter('/sign-in?next=https://example.com/'), '/portal/integration')
  t.equal(await enter('/sign-in?next=//example.com/'), '/portal/integration')
})

test('signing out ends this browser alone; signing out everywhere ends all', async (t, portal) => {
  const person = await portal.createPerson()
  const others = [await portal.visit(), await portal.visit()]
  for (const { page } of others) {
    await signIn(page, portal, person)
    await page.waitForURL('**/integration')
  }
  const [second, third] = others.map(({ page }) => page)
  await person.page.getByRole('button', { name: 'Sign out' }).click()
  await person.page.getByText('You are signed out.').waitFor()
  t.strictSame(await findBarriers(person.page), [])
  await person.page.goBack()
  await person.page.waitForURL(/sign-in/)
  await second?.goto(`${portal.url}/portal/sessions`)
  t.equal(await second?.getByText('This browser').count(), 1, 'the second browser is still signed in')
  await second?.getByText('Sign out everywhere…').click()
  await second?.getByRole('button', { name: 'Sign out everywhere' }).click()
  await second?.getByText('You are signed out everywhere.').waitFor()
  await third?.goto(`${portal.url}/portal/sessions`)
  await third?.getByText('Your session has ended. Sign in again.').waitFor()
})

test('a new set-up link takes the portal back from anyone who knew the password', async (t, portal) => {
  const person = await portal.createPerson()
  const { page } = await portal.visit()
  const { setupUrl } = (await portal.command('accounts', 'setup-link', person.email)) as { setupUrl: string }
  await setUp(page, setupUrl, 'another good password')
  await person.page.goto(`${portal.url}/portal/profile`)
  t.match(person.page.url(), '/portal/sign-in')
  await signIn(person.page, portal, person)
  await person.page.getByText('Wrong e-mail or password').waitFor()
})

testShort('a session ends with its lifetime', async (t, portal) => {
  const { page } = await portal.createPerson()
  await until('the session has ended', async () => {
    const status = await page.evaluate('fetch("/portal/integration/usage").then(({ status }) => status)')
    return status === 401 || undefined
  })
  await page.goto(`${portal.url}/portal/profile`)
  t.match(page.url(), '/portal/sign-in')
})
