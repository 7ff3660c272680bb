import { readFileSync } from 'node:fs'
import t from 'tap'
import { findBarriers } from './support/axe.ts'
import { goodPassword, portalTests, setUp, statusWith } from './support/portal.ts'

const test = portalTests(t)

test('an Admin makes an account, whose owner sets a password with the link', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  await page.getByRole('link', { name: 'Accounts' }).click()
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('link', { name: 'New account' }).click()
  await page.getByLabel('E-mail', { exact: true }).fill('grace@example.com')
  await page.getByLabel('Role').fill('1st')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Must be 1 to 64 letters').waitFor()
  t.equal(await page.getByLabel('E-mail', { exact: true }).inputValue(), 'grace@example.com')
  await page.getByLabel('Role').fill('Editor')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('The account has been made').waitFor()
  t.strictSame(await findBarriers(page), [])
  const [link = '', secretKey = ''] = await page.locator('[role=status] code').allTextContents()
  t.equal(await statusWith(portal, secretKey), 200)
  const grace = await portal.visit()
  await setUp(grace.page, link, goodPassword)
  t.equal(await grace.page.getByRole('link', { name: 'Accounts' }).count(), 0, 'she is no Admin')
})

test('an Admin changes, disables, resets and deletes an account', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  const person = await portal.createPerson()
  const { id, secretKey, email } = person
  await page.goto(`${portal.url}/portal/accounts?q=${email}`)
  await page.getByRole('link', { name: email }).click()
  t.strictSame(await findBarriers(page), [])
  await page.getByLabel('Role').fill('Editor')
  await page.getByRole('button', { name: 'Save details' }).click()
  await page.getByText('The account has been saved.').waitFor()
  await page.getByRole('button', { name: 'Mark as not verified' }).click()
  await page.getByText('The e-mail is marked as not verified.').waitFor()
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByText('The account is disabled, and').waitFor()
  t.equal(await statusWith(portal, secretKey), 403)
  await person.page.goto(`${portal.url}/portal/profile`)
  t.match(person.page.url(), '/portal/sign-in', 'whoever is disabled is signed out')
  await page.getByRole('button', { name: 'Enable' }).click()
  await page.getByText('The account is enabled.').waitFor()
  await page.getByText('Reset the secret…').click()
  await page.getByText('End it now').first().click()
  await page.getByRole('button', { name: 'Reset the secret' }).click()
  await page.getByText('A new key has been made').waitFor()
  const [fresh = ''] = await page.locator('[role=status] code').allTextContents()
  t.equal(await statusWith(portal, secretKey), 401)
  t.equal(await statusWith(portal, fresh), 200)
  await page.getByRole('link', { name: 'Delete account…' }).click()
  await page.getByLabel('Type the e-mail').fill('somebody else')
  await page.getByRole('button', { name: 'Delete account' }).click()
  await page.getByText('This is not the e-mail of the account.').waitFor()
  t.strictSame(await findBarriers(page), [])
  await page.getByLabel('Type the e-mail').fill(email)
  await page.getByRole('button', { name: 'Delete account' }).click()
  await page.getByText('The account has been deleted.').waitFor()
  t.equal(await statusWith(portal, fresh), 401)
  const gone = await page.goto(`${portal.url}/portal/accounts/${id}`)
  t.equal(gone?.status(), 404)
})

test('an Admin cannot lock themselves out', async (t, portal) => {
  const { page, id } = await portal.createPerson({ role: 'Admin' })
  await page.goto(`${portal.url}/portal/accounts/${id}`)
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByText('cannot disable, delete or demote their own account').waitFor()
  t.strictSame(await findBarriers(page), [])
})

test('a file is imported whole, or every bad line is told', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin', email: 'admin@example.com' })
  await page.goto(`${portal.url}/portal/accounts/import`)
  const send = async (lines: string) => {
    const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(lines) }
    await page.getByLabel('File').setInputFiles(file)
    await page.getByRole('button', { name: 'Import' }).click()
  }
  await send('email,role\nnobody,User\nann@example.com,1st\nbob@example.com,User\n')
  await page.getByText('2 lines cannot be taken').waitFor()
  t.strictSame(await findBarriers(page), [])
  await send('email,role\nann@example.com,User\nadmin@example.com,User\n')
  await page.getByText('email: admin@example.com is taken').waitFor()
  const many = Array.from({ length: 3_000 }, (_, index) => `person-${index}@import.example.com,User`)
  await send(`email,role\n${many.join('\n')}\n`)
  await page.getByText('3,000 accounts made.').waitFor()
  await page.goto(`${portal.url}/portal/accounts?q=person-29`)
  t.equal(await page.locator('tbody tr').count(), 25)
  await page.getByRole('link', { name: 'Next page' }).click()
  await page.getByRole('link', { name: 'First page' }).waitFor()
  t.strictSame(await findBarriers(page), [])
  await page.goto(`${portal.url}/portal/accounts?q=nobody-at-all`)
  await page.getByText('Nobody found').waitFor()
  await page.goto(`${portal.url}/portal/accounts/import`)
  await page.getByLabel('Or paste it here').fill('{"email":"lone@example.com"}')
  await page.getByRole('button', { name: 'Import' }).click()
  await page.getByText('1 account made.').waitFor()
})

test('the audit log tells who did what to whom, is filtered and exported', async (t, portal) => {
  const admin = await portal.createPerson({ role: 'Admin', email: 'root@example.com' })
  const { page } = admin
  const { id, email } = await portal.createAccount()
  await page.goto(`${portal.url}/portal/accounts/${id}`)
  await page.getByRole('button', { name: 'Mark as not verified' }).click()
  await page.getByText('marked as not verified').waitFor()
  await page.getByRole('link', { name: 'Audit' }).click()
  const [first = ''] = await page.locator('tbody tr').allTextContents()
  t.match(first, /root@example\.com127\.0\.0\.1 · portal\s*Account updated/)
  t.match(first, email)
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('combobox', { name: 'What' }).selectOption('signed-in')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.waitForURL(/action=signed-in/)
  const signIns = await page.locator('tbody tr td:nth-child(3)').allTextContents()
  t.ok(signIns.length > 0 && signIns.every((text) => text === 'Signed in'))
  await page.getByRole('searchbox', { name: 'Who' }).fill('ROOT@example.com')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.waitForURL(/who=ROOT/)
  t.equal(await page.locator('tbody tr').count(), 1)
  await page.getByRole('searchbox', { name: 'Who' }).fill('nobody@example.com')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByText('No entries').waitFor()
  for (const [link, format] of [
    ['CSV', /^at,channel,actor,/],
    ['JSON lines', /^\{"at":"/],
  ] as const) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: link }).click(),
    ])
    const text = readFileSync(await download.path(), 'utf8')
    t.match(text, format)
    t.match(text, email)
    t.notMatch(text, admin.secretKey)
  }
})
