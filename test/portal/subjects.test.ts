import t from 'tap'
import { newIssuerKey, startIssuer } from '../identity/issuers/issuer-server.ts'
import { until } from '../setup/net.ts'
import { findBarriers } from './support/axe.ts'
import { portalTests } from './support/portal.ts'

const issuer = await startIssuer(t, [await newIssuerKey('one')])
const route = { name: 'any', path: '/any', upstream: 'backend', auth: 'any' }
const test = portalTests(t, {
  config: {
    issuers: [{ name: 'corp', issuer: issuer.url, audience: 'orders' }],
    routes: [{ ...route, issuers: ['corp'] }],
  },
})
const testWithout = portalTests(t, { config: { routes: [route] } })

test('an Admin blocks a user of an issuer, and unblocks it again', async (t, portal) => {
  const sub = '<b>ada</b> "ä" %41'
  const token = await issuer.sign({ sub })
  const status = async () =>
    (await fetch(`${portal.url}/any`, { headers: { Authorization: `Bearer ${token}` } })).status
  t.equal(await status(), 200)

  const { page } = await portal.createPerson({ role: 'Admin' })
  await page.getByRole('link', { name: 'Accounts' }).click()
  await page.getByRole('link', { name: 'Blocked users' }).click()
  await page.getByText('Nobody is blocked').waitFor()
  t.strictSame(await findBarriers(page), [])
  await page.getByLabel('Subject').fill(sub)
  await page.getByLabel('Issuer').fill('corpp')
  await page.getByRole('button', { name: 'Block' }).click()
  await page.getByText('did you mean "corp"?').waitFor()
  t.equal(await page.getByLabel('Subject').inputValue(), sub, 'what was typed is kept')
  t.equal(await status(), 200)
  await page.getByLabel('Issuer').fill('corp')
  await page.getByRole('button', { name: 'Block' }).click()
  await page.getByText('The user is blocked.').waitFor()
  t.match(page.url(), /\/portal\/subjects$/)
  await until('its tokens are refused', async () => (await status()) === 403)
  t.equal(await page.getByRole('cell', { name: sub, exact: true }).count(), 1)
  t.strictSame(await findBarriers(page), [])

  await page.getByLabel('Subject').fill(sub)
  await page.getByRole('button', { name: 'Block', exact: true }).click()
  await page.getByText('The user was already blocked.').waitFor()
  await page.getByRole('button', { name: /^Unblock/ }).click()
  await page.getByText('The user is unblocked.').waitFor()
  await until('its tokens pass', async () => (await status()) === 200)

  await page.getByRole('link', { name: 'Audit' }).click()
  await page.getByText('issuer corp').first().waitFor()
})

testWithout('without issuers no page leads there', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  await page.getByRole('link', { name: 'Accounts' }).click()
  await page.getByRole('link', { name: 'New account' }).waitFor()
  t.equal(await page.getByRole('link', { name: 'Blocked users' }).count(), 0)
  await page.goto(`${portal.url}/portal/subjects`)
  await page.getByText('Nobody is blocked').waitFor()
})
