import t from 'tap'
import { goodPassword, type Portal, portalTests, setUp, signIn } from './support/portal.ts'

const test = portalTests(t)

const again = 'You signed in again in another tab. Nothing was changed: submit the form again.'

test('a form from before a new sign-in in another tab does nothing and leads to its page', async (t, portal) => {
  const { page, visitor, email, id } = await portal.createPerson({ role: 'Admin' })
  await page.goto(`${portal.url}/portal/profile`)
  const other = await visitor.context.newPage()
  await other.goto(`${portal.url}/portal/profile`)
  await other.getByRole('button', { name: 'Sign out' }).click()
  await signIn(other, portal, { email, password: goodPassword })
  await other.waitForURL('**/integration')

  await page.getByLabel('First name').fill('Grace')
  await page.getByRole('button', { name: 'Save name' }).click()
  await page.getByText(again).waitFor()
  t.equal(page.url(), `${portal.url}/portal/profile`)
  t.equal(await page.getByLabel('First name').inputValue(), 'Ada')
  await page.getByLabel('First name').fill('Grace')
  await page.getByRole('button', { name: 'Save name' }).click()
  await page.getByText('The name has been saved.').waitFor()

  const cookies = await visitor.context.cookies()
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const ofBefore = 'x'.repeat(43)
  const send = (headers: Record<string, string>, path = '/profile/name', csrf = ofBefore) =>
    post(portal, path, { Cookie: cookie, Accept: 'text/html', ...headers }, { csrf, firstName: 'Eve' })
  const sameOrigin = { 'Sec-Fetch-Site': 'same-origin' }
  t.strictSame(await send(sameOrigin), [303, '/portal/profile'])
  t.strictSame(await send(sameOrigin, `/accounts/${id}/update`), [303, `/portal/accounts/${id}`])
  t.strictSame(await send(sameOrigin, '/accounts/new'), [303, '/portal/accounts/new'])
  t.strictSame(await send({ Origin: portal.url }), [403, null], 'a browser that does not say of where it is')
  t.strictSame(await send({ 'Sec-Fetch-Site': 'same-site' }), [403, null])
  t.strictSame(await send({ 'Sec-Fetch-Site': 'cross-site' }), [403, null])
  t.strictSame(await send({ ...sameOrigin, Accept: 'application/json' }), [403, null], 'a script')
  t.strictSame(await send(sameOrigin, '/profile/name', ''), [403, null], 'no token at all')
  await page.reload()
  t.equal(await page.getByLabel('First name').inputValue(), 'Grace', 'none has changed anything')
})

test('signing out in a tab from before a new sign-in leads to the portal, still signed in', async (_t, portal) => {
  const { page, visitor, email } = await portal.createPerson()
  const other = await visitor.context.newPage()
  await other.goto(`${portal.url}/portal/profile`)
  await other.getByRole('button', { name: 'Sign out' }).click()
  await signIn(other, portal, { email, password: goodPassword })
  await other.waitForURL('**/integration')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText(again).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out.').waitFor()
})

test('a form of an ended session leads back to its page after sign-in', async (_t, portal) => {
  const person = await portal.createPerson()
  const { page } = person
  await page.goto(`${portal.url}/portal/profile`)
  const { page: elsewhere } = await portal.visit()
  const { setupUrl } = (await portal.command('accounts', 'setup-link', person.email)) as { setupUrl: string }
  await setUp(elsewhere, setupUrl, goodPassword)
  await page.getByRole('button', { name: 'Save name' }).click()
  await page.getByText('Your session has ended. Sign in again.').waitFor()
  await page.getByLabel('E-mail').fill(person.email)
  await page.getByLabel('Password').fill(goodPassword)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(`${portal.url}/portal/profile`)
})

/** @returns the status, and where it leads */
async function post(
  { url }: Portal,
  path: string,
  headers: Record<string, string>,
  form: Record<string, string>,
): Promise<readonly [number, string | null]> {
  const body = new URLSearchParams(form)
  const answer = await fetch(`${url}/portal${path}`, { method: 'POST', headers, body, redirect: 'manual' })
  await answer.text()
  return [answer.status, answer.headers.get('location')]
}
