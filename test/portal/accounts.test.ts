import { readFileSync } from 'node:fs'
import t from 'tap'
import { findBarriers } from './support/axe.ts'
import { goodPassword, portalTests, setUp, statusWith } from './support/portal.ts'

const quota = { limit: 1_000, per: 'month' }
const plans = { free: { quota }, pro: { quota: { ...quota, limit: 9_000 } } }
const test = portalTests(t, { config: { plans } })

/** The e-mails in the list. */
const shown = 'tbody a.name'

test('an Admin finds accounts by any part of their e-mail and by filters, in an order', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin', email: 'zz.root@example.com' })
  await portal.createAccount({ email: 'carol.smith@mail.test' })
  const eve = await portal.createAccount({ email: 'eve@mail.test', role: 'Editor' })
  await portal.command('accounts', 'update', eve.id, '--disabled', 'true', '--plan', 'free')
  await page.goto(`${portal.url}/portal/accounts`)
  await page.getByText(/^\d+ accounts\.$/).waitFor()
  t.equal(await page.locator(shown).first().innerText(), 'eve@mail.test', 'the newest first')

  await page.getByRole('searchbox').fill('MITH@ma')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.waitForURL(/q=MITH/)
  t.strictSame(await page.locator(shown).allInnerTexts(), ['carol.smith@mail.test'])
  await page.getByText(/^1 of \d+ accounts\.$/).waitFor()
  await page.getByRole('searchbox').fill('mail.test')
  await page.getByLabel('State').selectOption({ label: 'Disabled' })
  await page.getByLabel('Plan').selectOption({ label: 'free' })
  await page.getByLabel('Last active').selectOption({ label: 'Any activity' })
  await page.getByRole('button', { name: 'Search' }).click()
  await page.waitForURL(/disabled=true/)
  t.strictSame(await page.locator(shown).allInnerTexts(), ['eve@mail.test'])
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('link', { name: 'Clear' }).click()
  await page.waitForURL('**/accounts')

  await page.getByRole('link', { name: 'Account', exact: true }).click()
  await page.waitForURL(/sort=email/)
  const emails = await page.locator(shown).allInnerTexts()
  t.strictSame(emails, emails.toSorted())
  t.equal(
    await page.getByRole('columnheader', { name: 'Account' }).getAttribute('aria-sort'),
    'ascending',
    'and says so',
  )
  await page.getByRole('link', { name: 'Created' }).click()
  await page.waitForURL('**/accounts')
  await page.getByRole('link', { name: 'Created' }).click()
  await page.waitForURL(/sort=oldest/)
  t.strictSame((await page.locator(shown).allInnerTexts()).at(-1), 'eve@mail.test')
  await page.getByLabel('Last active').selectOption({ label: 'Active in 7 days' })
  await page.getByRole('button', { name: 'Search' }).click()
  await page.waitForURL(/active=7/)
  t.strictSame(await page.locator(shown).allInnerTexts(), ['zz.root@example.com'], 'who is here now')
  await page.goto(`${portal.url}/portal/accounts?active=not-30`)
  await page.getByText('No matches').waitFor()
  t.strictSame(await findBarriers(page), [])
  await page.goto(`${portal.url}/portal/accounts?q=${'x'.repeat(201)}`)
  await page.getByText('Must have at most 200 characters').waitFor()
})

test('what is listed is downloaded as CSV that a spreadsheet runs nothing of', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  const { id } = await portal.createAccount({ email: 'formula@csv.test' })
  await portal.command('accounts', 'update', id, '--first-name', '=HYPERLINK("http://x")')
  await page.goto(`${portal.url}/portal/accounts?q=csv.test`)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'CSV', exact: true }).click(),
  ])
  t.equal(download.suggestedFilename(), 'accounts.csv')
  const [heading, row, end] = readFileSync(await download.path(), 'utf8').split('\r\n')
  t.match(heading, /^id,email,firstName,.*,lastActiveOn$/)
  t.match(row, `${id},formula@csv.test,"'=HYPERLINK(""http://x"")"`)
  t.equal(end, '', 'no other account')
})

test('several accounts are changed at once, after a question, each with an audit entry', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin', email: 'boss@several.test' })
  const people = []
  for (const name of ['one', 'two', 'three'])
    people.push(await portal.createAccount({ email: `${name}@several.test` }))
  const list = `${portal.url}/portal/accounts?q=several.test&sort=email`
  await page.goto(list)
  t.equal(await page.getByRole('checkbox', { name: 'Tick boss@' }).count(), 0, 'not oneself')
  await page.getByLabel('All on this page').check()
  t.equal(await page.locator('tbody input:checked').count(), 3)
  await page.getByLabel('Tick three@several.test').uncheck()
  await page.getByLabel('With the ticked accounts').selectOption('Disable')
  await page.getByRole('button', { name: 'Continue…' }).click()
  await page.getByRole('heading', { name: 'Disable 2 accounts?' }).waitFor()
  t.strictSame(await findBarriers(page), [])
  t.strictSame(await page.locator(shown).allInnerTexts(), ['one@several.test', 'two@several.test'])
  for (const { secretKey } of people) t.equal(await statusWith(portal, secretKey), 200, 'not yet')
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByText('The accounts have been changed.').waitFor()
  t.equal(page.url(), list, 'back in the same list')
  const statuses = []
  for (const { secretKey } of people) statuses.push(await statusWith(portal, secretKey))
  t.strictSame(statuses, [403, 403, 200])

  await page.getByLabel('All on this page').check()
  await page.getByLabel('With the ticked accounts').selectOption('Change the role')
  await page.getByRole('button', { name: 'Continue…' }).click()
  await page.getByLabel('Role').fill('admin')
  await page.getByRole('button', { name: 'Change the role' }).click()
  t.equal(await page.locator('#role-error').innerText(), 'Did you mean Admin? Roles are case-sensitive.')
  t.strictSame(await findBarriers(page), [])
  await page.getByLabel('Role').fill('Editor')
  await page.getByRole('button', { name: 'Change the role' }).click()
  await page.getByText('The accounts have been changed.').waitFor()
  t.equal(await page.getByRole('cell', { name: 'Editor' }).count(), 3)

  await page.getByLabel('Tick one@several.test').check()
  await page.getByLabel('With the ticked accounts').selectOption('Change the plan')
  await page.getByRole('button', { name: 'Continue…' }).click()
  await page.getByLabel('Plan').selectOption('pro')
  await page.getByRole('button', { name: 'Change the plan' }).click()
  await page.getByText('The accounts have been changed.').waitFor()
  t.equal(await page.getByRole('cell', { name: 'pro' }).count(), 1)

  await page.goto(`${portal.url}/portal/audit?who=several.test&action=account-updated`)
  const entries = await page.locator('tbody tr').allInnerTexts()
  const of = (text: string) => entries.filter((entry) => entry.includes(text)).length
  t.equal(of('Account disabled'), 2)
  t.equal(of('role Editor'), 3)
  t.equal(of('plan pro'), 1)
  t.equal(entries.length, 6, 'one for each')
})

test('of several accounts one’s own is refused, and the others are changed', async (t, portal) => {
  const { page, id } = await portal.createPerson({ role: 'Admin', email: 'me@own.test' })
  const other = await portal.createAccount({ email: 'other@own.test' })
  await page.goto(`${portal.url}/portal/accounts?q=own.test`)
  await page.getByRole('button', { name: 'Continue…' }).click()
  await page.getByText('Tick the accounts to change first.').waitFor()
  await page.getByLabel('Tick other@own.test').check()
  await page.getByRole('button', { name: 'Continue…' }).click()
  // What no page offers can be sent all the same.
  await page.evaluate(
    `document.querySelector('form[action$="/apply"]').insertAdjacentHTML('beforeend', '<input type="hidden" name="id7" value="${id}">')`,
  )
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('heading', { name: '1 of 2 accounts changed' }).waitFor()
  t.match(await page.locator('tbody').innerText(), /me@own\.test[\s\S]*own account/)
  t.strictSame(await findBarriers(page), [])
  t.equal(await statusWith(portal, other.secretKey), 403)
  await page.goto(`${portal.url}/portal/profile`)
  t.match(page.url(), /profile$/, 'still signed in')
})

test('an Admin whose browser asks for German is asked, and refused, in German', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  const { id } = await portal.createAccount({ email: 'eins@german.test' })
  await portal.createAccount({ email: 'zwei@german.test' })
  await page.setExtraHTTPHeaders({ 'Accept-Language': 'de-AT, en;q=0.5' })
  for (const [ticked, question] of [
    ['eins@german.test auswählen', 'Rolle von 1 Konto ändern?'],
    ['Alle auf dieser Seite', 'Rolle von 2 Konten ändern?'],
  ] as const) {
    await page.goto(`${portal.url}/portal/accounts?q=german.test`)
    await page.getByText(/^2 von \d+ Konten\.$/).waitFor()
    await page.getByLabel(ticked).check()
    await page.getByLabel('Ausgewählte Konten').selectOption('Rolle ändern')
    await page.getByRole('button', { name: 'Weiter…' }).click()
    await page.getByRole('heading', { name: question }).waitFor()
  }
  await page.getByLabel('Rolle').fill('admin')
  await page.getByRole('button', { name: 'Rolle ändern' }).click()
  await page.getByText('Meinten Sie Admin?').waitFor()
  t.strictSame(await findBarriers(page), [])

  await page.goto(`${portal.url}/portal/accounts/${id}/delete`)
  await page.getByLabel(/E-Mail-Adresse des Kontos/).fill('zwei@german.test')
  await page.getByRole('button', { name: 'Konto löschen' }).click()
  await page.getByText('Das ist nicht die E-Mail-Adresse des Kontos.').waitFor()

  await page.goto(`${portal.url}/portal/accounts/import`)
  await page.getByRole('button', { name: 'Importieren' }).click()
  await page.getByText('Wählen Sie eine Datei').waitFor()
})

test('without JavaScript several accounts are changed too, and times are in UTC', async (t, portal) => {
  const admin = await portal.createAccount({ role: 'Admin' })
  const other = await portal.createAccount({ email: 'noscript@plain.test' })
  const { page } = await portal.visit({ javaScriptEnabled: false, timezoneId: 'Asia/Tokyo' })
  await page.goto(admin.setupUrl)
  await page.getByLabel('Set-up link').fill(admin.setupUrl)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Password', { exact: true }).fill(goodPassword)
  await page.getByLabel('Password, again').fill(goodPassword)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('Your password is set').waitFor()
  await page.goto(`${portal.url}/portal/accounts?q=plain.test`)
  t.equal(await page.getByLabel('All on this page').isVisible(), false, 'which needs a script')
  await page.getByLabel('Tick noscript@plain.test').check()
  await page.getByRole('button', { name: 'Continue…' }).click()
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByText('The accounts have been changed.').waitFor()
  t.equal(await statusWith(portal, other.secretKey), 403)
  await page.goto(`${portal.url}/portal/audit`)
  t.match(await page.locator('tbody time').first().innerText(), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
})

test('times are in the time zone of the viewer, and in UTC on hover', async (t, portal) => {
  const { setupUrl } = await portal.createAccount({ role: 'Admin' })
  const { page } = await portal.visit({ timezoneId: 'Asia/Tokyo' })
  await setUp(page, setupUrl, goodPassword)
  await page.goto(`${portal.url}/portal/audit`)
  const time = page.locator('tbody time').first()
  const utc = `${(await time.getAttribute('datetime'))?.slice(0, 19).replace('T', ' ')} UTC`
  t.equal(await time.getAttribute('title'), utc)
  const local = await time.innerText()
  t.match(local, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (?:JST|GMT\+9)$/)
  const written = Date.parse(`${local.slice(0, 19).replace(' ', 'T')}+09:00`)
  t.equal(written, Date.parse(utc.slice(0, 19).replace(' ', 'T').concat('Z')), 'the same moment')
  await page.goto(`${portal.url}/portal/accounts`)
  const created = page.locator('tbody time').first()
  t.match(await created.innerText(), /ago$|just now/)
  t.match(await created.getAttribute('title'), /(?:JST|GMT\+9), .* UTC$/)
})
