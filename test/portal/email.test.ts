import t from 'tap'
import { startMailServer } from '../setup/mail-server.ts'
import { until } from '../setup/net.ts'
import { findBarriers } from './support/axe.ts'
import { goodPassword, portalTests } from './support/portal.ts'

const { port, mails } = await startMailServer(t)
const mail = { host: '127.0.0.1', port, security: 'none', from: 'gatehouse@example.com', notices: false }
const test = portalTests(t, { config: { mail } })

test('a new e-mail counts once the link in the mail is opened', async (t, portal) => {
  const { page } = await portal.createPerson()
  await page.goto(`${portal.url}/portal/profile`)
  const change = async (password: string) => {
    await page.getByLabel('E-mail', { exact: true }).fill('ada.king@example.com')
    await page.getByLabel('Your password').fill(password)
    await page.getByRole('button', { name: 'Change e-mail' }).click()
  }
  await change('not the password')
  await page.getByText('The password is wrong.').waitFor()
  t.equal(await page.getByLabel('E-mail', { exact: true }).inputValue(), 'ada.king@example.com')
  await change(goodPassword)
  await page.getByText('A link has been sent.').waitFor()
  t.match(await page.locator('dl').textContent(), /E-mailperson1@example\.com/)
  const text = await until('the mail is there', () => mails[0])
  const [link = ''] = /http:\S+#\S+/.exec(text.replaceAll('=\r\n', '').replaceAll('=3D', '=')) ?? []
  const { page: elsewhere } = await portal.visit()
  await elsewhere.goto(link)
  t.strictSame(await findBarriers(elsewhere), [])
  await elsewhere.getByRole('button', { name: 'Confirm e-mail' }).click()
  await elsewhere.getByText('the e-mail of the account person1@example.com').waitFor()
  t.strictSame(await findBarriers(elsewhere), [])
  t.match(await elsewhere.getByRole('link', { name: 'Sign in to it' }).getAttribute('href'), '/sign-in?next=')
  await page.goto(link)
  await page.getByRole('button', { name: 'Confirm e-mail' }).click()
  await page.getByText('The e-mail is verified.').waitFor()
  t.match(await page.locator('dl').textContent(), /E-mailada\.king@example\.com/)
  await page.getByText('Verified', { exact: true }).waitFor()
  await page.goto(link)
  await page.getByRole('button', { name: 'Confirm e-mail' }).click()
  await page.getByText('The link has expired').waitFor()
})
