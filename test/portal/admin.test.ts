import { readFileSync } from 'node:fs'
import t from 'tap'
import { findBarriers } from './support/axe.ts'
import { goodPassword, portalTests, setUp, statusWith } from './support/portal.ts'

const test = portalTests(t)

test('an Admin makes an account, whose owner sets a password with the link', async (t, portal) => {
  const { page, email } = await portal.createPerson({ role: 'Admin' })
  await page.getByRole('link', { name: 'Accounts' }).click()
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('link', { name: 'New account' }).click()
  await page.getByLabel('E-mail', { exact: true }).fill(email)
  await page.getByRole('button', { name: 'Create account' }).click()
  t.equal(await page.locator('#email-error').innerText(), 'An account with this e-mail already exists.')
  t.equal(await page.getByLabel('E-mail', { exact: true }).inputValue(), email)
  await page.getByLabel('E-mail', { exact: true }).fill('grace@example.com')
  await page.getByLabel('Role').fill('1st')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Must be 1 to 64 letters').waitFor()
  t.equal(await page.getByLabel('E-mail', { exact: true }).inputValue(), 'grace@example.com')
  await page.getByLabel('Role').fill('admin')
  await page.getByRole('button', { name: 'Create account' }).click()
  t.equal(await page.locator('#role-error').innerText(), 'Did you mean Admin? Roles are case-sensitive.')
  t.strictSame(
    await page
      .locator('#role-choices option')
      .evaluateAll((all) => all.map((each) => each.getAttribute('value'))),
    ['Admin', 'User'],
  )
  await page.getByLabel('Role').fill('Editor')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Account created').waitFor()
  t.strictSame(await findBarriers(page), [])
  const [link = '', secretKey = ''] = await page.locator('[role=status] code').allTextContents()
  t.equal(await statusWith(portal, secretKey), 200)
  await page.getByRole('navigation', { name: 'Portal' }).getByRole('link', { name: 'Accounts' }).click()
  await page.waitForURL('**/accounts')
  t.match(await page.locator('tbody tr').first().textContent(), 'grace@example.com', 'the newest comes first')
  const grace = await portal.visit()
  await setUp(grace.page, link, goodPassword)
  t.equal(await grace.page.getByRole('link', { name: 'Accounts' }).count(), 0, 'she is no Admin')
})

test('an Admin changes, disables, resets and deletes an account', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  const person = await portal.createPerson()
  const { id, secretKey, email } = person
  const other = await portal.createAccount()
  await page.goto(`${portal.url}/portal/accounts?q=${email}`)
  await page.getByRole('link', { name: email }).click()
  t.strictSame(await findBarriers(page), [])
  await page.getByLabel('E-mail', { exact: true }).fill(other.email)
  await page.getByRole('button', { name: 'Save details' }).click()
  t.equal(await page.locator('#email-error').innerText(), 'An account with this e-mail already exists.')
  await page.getByLabel('E-mail', { exact: true }).fill(email)
  await page.getByLabel('Role').fill('Editor')
  await page.getByRole('button', { name: 'Save details' }).click()
  await page.getByText('The account has been saved.').waitFor()
  await page.getByRole('button', { name: 'Mark as not verified' }).click()
  await page.getByText('The e-mail is marked as not verified.').waitFor()
  await page.getByText('Disable…').click()
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByText('The account is disabled, and').waitFor()
  t.equal(await statusWith(portal, secretKey), 403)
  await page.getByText('Enable the account first').waitFor()
  t.equal(await page.getByRole('button', { name: 'Create link' }).count(), 0, 'it would be refused')
  await person.page.goto(`${portal.url}/portal/profile`)
  t.match(person.page.url(), '/portal/sign-in', 'a disabled account is signed out')
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByText('The account is enabled.').waitFor()
  await page.getByText('Reset the secret key…').click()
  await page.getByText('Revoke now').first().click()
  await page.getByRole('button', { name: 'Reset the secret key' }).click()
  await page.getByText('Key reset').waitFor()
  const [fresh = ''] = await page.locator('[role=status] code').allTextContents()
  t.equal(await statusWith(portal, secretKey), 401)
  t.equal(await statusWith(portal, fresh), 200)
  await page.getByRole('link', { name: 'Delete account…' }).click()
  await page.getByLabel('Type the account e-mail').fill('somebody else')
  await page.getByRole('button', { name: 'Delete account' }).click()
  await page.getByText('Does not match the account e-mail.').waitFor()
  t.strictSame(await findBarriers(page), [])
  await page.getByLabel('Type the account e-mail').fill(email)
  await page.getByRole('button', { name: 'Delete account' }).click()
  await page.getByText('The account has been deleted.').waitFor()
  t.equal(await statusWith(portal, fresh), 401)
  const gone = await page.goto(`${portal.url}/portal/accounts/${id}`)
  t.equal(gone?.status(), 404)
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('link', { name: 'Show in audit log' }).click()
  await page.waitForURL(`**/audit?who=${id}`)
  const whats = await page.locator('tbody tr td:nth-child(3)').allInnerTexts()
  for (const what of ['Account deleted', 'Account disabled', 'Account enabled', 'Secret key reset']) {
    t.ok(
      whats.some((text) => text.startsWith(what)),
      what,
    )
  }
  t.ok(whats.includes('Account updated\ne-mail marked as not verified'))
  await page.getByRole('link', { name: 'Accounts' }).click()
  await page.waitForURL('**/accounts')
})

test('an Admin cannot lock themselves out', async (t, portal) => {
  const { page, id, email, password } = await portal.createPerson({ role: 'Admin' })
  const passwordOf = (form: string) => page.locator(`form[action$="/${form}"]`).getByLabel('Your password')
  const own = `${portal.url}/portal/accounts/${id}`
  const refused = 'cannot disable, delete or demote their own account'
  await page.goto(own)
  await page.getByText('This is your own account').waitFor()
  t.equal(await page.getByText('Disable…').count(), 0)
  t.equal(await page.getByRole('link', { name: 'Delete account…' }).count(), 0)
  await page.getByLabel('Role').fill('User')
  await passwordOf('update').fill(password)
  await page.getByRole('button', { name: 'Save details' }).click()
  await page.getByText(refused).waitFor()
  t.strictSame(await findBarriers(page), [])
  // What no page offers can be sent all the same.
  await page.goto(own)
  await page.evaluate(`document.querySelector('form[action$="/unverify"]').action = '${own}/disable'`)
  await passwordOf('disable').fill(password)
  await page.getByRole('button', { name: 'Mark as not verified' }).click()
  await page.getByText(refused).waitFor()
  await page.goto(`${own}/delete`)
  await page.getByLabel('Type the account e-mail').fill(email)
  await page.getByRole('button', { name: 'Delete account' }).click()
  await page.getByText(refused).waitFor()
})

test('the audit log page names who did what to whom, and is filtered and exported', async (t, portal) => {
  const admin = await portal.createPerson({ role: 'Admin', email: 'root@example.com' })
  const { page } = admin
  const { id, email } = await portal.createAccount()
  await page.goto(`${portal.url}/portal/accounts/${id}`)
  await page.getByRole('button', { name: 'Mark as not verified' }).click()
  await page.getByText('marked as not verified').waitFor()
  await page.locator('main').getByRole('link', { name: 'Audit' }).click()
  await page.waitForURL(`**/audit?who=${id}`)
  t.equal(await page.locator('tbody tr').count(), 3, 'what happened to this account')
  await page.getByRole('navigation').getByRole('link', { name: 'Audit' }).click()
  const [first = ''] = await page.locator('tbody tr').allTextContents()
  t.match(first, /root@example\.com127\.0\.0\.1 · portal\s*Account updated/)
  t.match(first, email)
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('combobox', { name: 'Action' }).selectOption('signed-in')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.waitForURL(/action=signed-in/)
  const signIns = await page.locator('tbody tr td:nth-child(3)').allTextContents()
  t.ok(signIns.length > 0 && signIns.every((text) => text === 'Signed in'))
  await page.getByRole('searchbox', { name: 'Actor or target' }).fill('ROOT@example.com')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.waitForURL(/who=ROOT/)
  t.equal(await page.locator('tbody tr').count(), 1)
  await page.getByRole('searchbox', { name: 'Actor or target' }).fill('nobody@example.com')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByText('No entries').waitFor()
  await page.getByRole('searchbox', { name: 'Actor or target' }).fill(id)
  await page.getByRole('combobox', { name: 'Action' }).selectOption('account-updated')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.waitForURL(/action=account-updated/)
  for (const [link, name, type, format] of [
    ['CSV', 'audit.csv', 'text/csv; charset=utf-8', /^at,channel,actor,/],
    ['JSON Lines', 'audit.jsonl', 'application/jsonl; charset=utf-8', /^\{"at":"/],
  ] as const) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: link }).click(),
    ])
    t.equal(download.suggestedFilename(), name)
    t.equal((await page.request.get(download.url())).headers()['content-type'], type)
    const text = readFileSync(await download.path(), 'utf8')
    t.match(text, format)
    t.match(text, email)
    t.notMatch(text, 'signed-in', 'only what passes the filter')
    t.notMatch(text, admin.secretKey)
  }
})
