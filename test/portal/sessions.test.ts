import t from 'tap'
import { findBarriers } from './support/axe.ts'
import { type CreatedAccount, type Portal, portalTests, signIn } from './support/portal.ts'

const test = portalTests(t)

test('ending a session revokes its access token at once, and no other', async (t, portal) => {
  const person = await portal.createPerson()
  const { page } = person
  const [first, second] = [await accessToken(portal, person), await accessToken(portal, person)]
  await page.goto(`${portal.url}/portal/sessions`)
  t.strictSame(await findBarriers(page), [])
  t.equal(await page.locator('code.sub').count(), 2)
  t.equal(await page.getByText('end-to-end-test 1').count(), 2, 'the client that asked for it is named')
  t.equal(await page.getByText('in 7 days').count(), 2, 'it ends then, unless it is refreshed')
  t.equal(await page.getByText('Token sessions are not affected.').count(), 1, 'by signing out everywhere')
  const sid = claimsOf(first).sid
  await page.getByRole('button', { name: `End session ${sid}` }).click()
  await page.getByText('The session has ended.').waitFor()
  t.equal(await page.locator('code.sub').count(), 1)
  t.equal(await statusWithToken(portal, first), 401)
  t.equal(await statusWithToken(portal, second), 200)
  await page.getByText('End all…').click()
  await page.getByRole('button', { name: 'End all' }).click()
  await page.getByText('No active token sessions').waitFor()
  t.equal(await statusWithToken(portal, second), 401)
})

test('one browser can sign out another, which is asked to sign in', async (t, portal) => {
  const person = await portal.createPerson()
  const { page } = await portal.visit({
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  })
  await signIn(page, portal, person)
  await page.waitForURL('**/integration')
  await person.page.goto(`${portal.url}/portal/sessions`)
  const other = person.page.getByRole('row').filter({ hasText: 'Firefox 140 on Linux' })
  await other.getByRole('button').click()
  await person.page.getByText('The session has ended.').waitFor()
  await page.goto(`${portal.url}/portal/profile`)
  await page.getByText('Your session has ended. Sign in again.').waitFor()
  t.match(page.url(), '/portal/sign-in')
})

test("nobody ends a session of somebody else's", async (t, portal) => {
  const [ada, eve] = [await portal.createPerson(), await portal.createPerson()]
  const token = await accessToken(portal, ada)
  await accessToken(portal, eve)
  await eve.page.goto(`${portal.url}/portal/sessions`)
  const form = eve.page.locator('form[action$="/sessions/end"]')
  const hers = String(claimsOf(token).sid)
  await form.locator('[name=session]').evaluate((input, sid) => input.setAttribute('value', sid), hers)
  await form.getByRole('button').click()
  await eve.page.getByText('The session had already ended.').waitFor()
  t.equal(await statusWithToken(portal, token), 200)
})

test('sessions are shown a page at a time, with a link to the next', async (t, portal) => {
  const person = await portal.createPerson({ role: 'Admin' })
  const { page } = person
  // A page has 25.
  for (let started = 0; started < 26; started++) await accessToken(portal, person)
  for (const path of ['sessions', `accounts/${person.id}`]) {
    const url = `${portal.url}/portal/${path}`
    await page.goto(url)
    const ids = () => page.locator('code.sub').allTextContents()
    const first = await ids()
    t.equal(first.length, 25, path)
    await page.getByRole('link', { name: 'Older' }).click()
    await page.waitForURL('**?cursor=*')
    const second = await ids()
    t.equal(new Set([...first, ...second]).size, 26, 'the rest is on the next')
    t.equal(await page.getByRole('link', { name: 'Older' }).count(), 0)
    await page.getByRole('link', { name: 'Newest' }).click()
    await page.waitForURL(url)
    t.strictSame(await ids(), first)
    t.equal((await page.goto(`${url}?cursor=nonsense`))?.status(), 400)
  }
})

async function accessToken({ url }: Portal, { secretKey, apiKey }: CreatedAccount): Promise<string> {
  const response = await fetch(`${url}/api/v1/accounts/access-token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'end-to-end-test/1' },
    body: JSON.stringify({ SecretKey: secretKey, APIKey: apiKey }),
  })
  // The cast is sound: the tests of this endpoint look at what is in it.
  return ((await response.json()) as { JwtToken: string }).JwtToken
}

async function statusWithToken({ url }: Portal, token: string): Promise<number> {
  const response = await fetch(`${url}/any`, { headers: { Authorization: `Bearer ${token}` } })
  await response.text()
  return response.status
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>
}
