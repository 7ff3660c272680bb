import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { findBarriers } from './support/axe.ts'
import { type Portal, portalTests, statusWith } from './support/portal.ts'

const test = portalTests(t)
const testShownOnce = portalTests(t, {
  config: { keys: { sealingKey: { file: 'sealing.key' }, reveal: false } },
})

test('every bad line of an imported file is reported at once: invalid, taken, or not UTF-8', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin', email: 'admin@example.com' })
  await send(page, portal, 'email,role\nnobody,User\nADMIN@example.com,User\nann@example.com,1st\n')
  await page.getByText('3 lines cannot be imported').waitFor()
  await page.getByText('email: ADMIN@example.com already has an account').waitFor()
  t.strictSame(await page.locator('[role=alert] td:first-child').allTextContents(), ['2', '3', '4'])
  t.strictSame(await findBarriers(page), [])
  const latin1 = 'email,firstName\ngerd@example.com,J\xfcrgen\nadmin@example.com,\nbob@example.com,Bob\n'
  await send(page, portal, Buffer.from(latin1, 'latin1'))
  await page.getByText('2 lines cannot be imported').waitFor()
  t.match(await page.locator('[role=alert] tbody tr').allTextContents(), [
    /^2is not valid UTF-8$/,
    /^3email: admin@/,
  ])
})

test('an import takes up to 1,000 accounts, and is refused with more', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin', email: 'mass@example.com' })
  const many = Array.from({ length: 1_001 }, (_, index) => `person-${index}@import.example.com,User`)
  const tooMany = page.getByRole('alert').getByText('The portal imports at most 1,000 accounts at a time')
  for (const lines of [many, Array.from({ length: 20 }, () => many).flat()]) {
    await send(page, portal, `email,role\n${lines.join('\n')}\n`)
    await tooMany.waitFor()
    t.strictSame(await findBarriers(page), [])
    await page.goto(`${portal.url}/portal/accounts/import`)
    await page.getByText('up to 1,000 accounts').waitFor()
  }
  await send(page, portal, `email,role\n${many.slice(1).join('\n')}\n`)
  await page.getByText('1,000 accounts created.').waitFor()
  await page.goto(`${portal.url}/portal/accounts?q=person-9`)
  t.equal(await page.locator('tbody tr').count(), 25)
  await page.getByRole('link', { name: 'Next page' }).click()
  await page.getByRole('link', { name: 'First page' }).waitFor()
  t.strictSame(await findBarriers(page), [])
  await page.goto(`${portal.url}/portal/accounts?q=nobody-at-all`)
  await page.getByText('No matches').waitFor()
})

for (const [mode, testIn] of [
  ['kept to be shown again', test],
  ['shown once', testShownOnce],
] as const) {
  testIn(`an import shows its keys to the importing Admin if keys are ${mode}`, async (t, portal) => {
    const { page } = await portal.createPerson({ role: 'Admin' })
    await page.goto(`${portal.url}/portal/accounts/import`)
    await page
      .getByLabel('Or paste it here')
      .fill('{"email":"lone@example.com"}\n{"email":"=1+1@example.com"}')
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByText('2 accounts created.').waitFor()
    t.strictSame(await findBarriers(page), [])
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save: Keys as CSV' }).click(),
    ])
    t.equal(download.suggestedFilename(), 'keys.csv')
    const text = readFileSync(await download.path(), 'utf8')
    t.equal(
      (await page.getByRole('region', { name: 'Keys as CSV' }).textContent())?.trim(),
      text.trim(),
      'what is seen is saved',
    )
    const [heading, lone = '', odd] = text.split(/\r?\n/)
    t.equal(heading, 'id,email,secretKey,apiKey')
    const [id, email, secretKey = '', apiKey = ''] = lone.split(',')
    t.equal(email, 'lone@example.com')
    t.match(odd, /^\w{16},"'=1\+1@example\.com",gate_sk_/, 'is no formula in a spreadsheet')
    t.equal(await statusWith(portal, secretKey), 200)
    t.match(apiKey, new RegExp(`^gate_ak_${id}_`))
  })
}

test('a repeated import of the same file is not reported as if nothing was imported', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  const lines = 'email\ntwice-1@example.com\ntwice-2@example.com\n'
  await send(page, portal, lines)
  await page.getByText('2 accounts created.').waitFor()
  await send(page, portal, lines)
  await page.getByRole('heading', { name: 'All of these accounts already exist' }).waitFor()
  t.equal(await page.getByText('Nothing was imported').count(), 0)
  t.strictSame(await findBarriers(page), [])
  await send(page, portal, `${lines}twice-3@example.com\n`)
  await page.getByText('2 lines cannot be imported').waitFor()
  await page.getByText('Nothing was imported').waitFor()
})

async function send(page: Page, portal: Portal, lines: string | Buffer): Promise<void> {
  await page.goto(`${portal.url}/portal/accounts/import`)
  const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(lines) }
  await page.getByLabel('File').setInputFiles(file)
  await page.getByRole('button', { name: 'Import' }).click()
}
