import t from 'tap'
import { until } from '../setup/net.ts'
import { findBarriers } from './support/axe.ts'
import { type Portal, portalTests, statusWith } from './support/portal.ts'

const test = portalTests(t, {
  config: {
    plans: {
      free: { quota: { limit: 4, per: 'month' } },
      pro: { quota: { limit: 1_000, per: 'day' }, rateLimit: { limit: 600, per: '1m' } },
    },
  },
})

async function planOf(portal: Portal, who: string): Promise<unknown> {
  return ((await portal.command('accounts', 'show', who)) as { readonly plan: unknown }).plan
}

test('an Admin gives accounts a plan, and takes it away', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  const { id } = await portal.createAccount()
  await page.goto(`${portal.url}/portal/accounts/${id}`)
  t.equal(await page.getByLabel('Plan').inputValue(), 'none')
  for (const [plan, stored] of [
    ['pro', 'pro'],
    ['free', 'free'],
    ['none', null],
  ] as const) {
    await page.getByLabel('Plan').selectOption(plan)
    await page.getByRole('button', { name: 'Save details' }).click()
    await page.getByText('The account has been saved.').waitFor()
    t.equal(await page.getByLabel('Plan').inputValue(), plan)
    t.equal(await planOf(portal, id), stored)
  }
  await page.goto(`${portal.url}/portal/accounts/new`)
  await page.getByLabel('E-mail', { exact: true }).fill('planned@example.com')
  await page.getByLabel('Plan').selectOption('free')
  await page.getByLabel('Role').fill('1st')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Must be 1 to 64 letters').waitFor()
  t.equal(await page.getByLabel('Plan').inputValue(), 'free', 'a refused form keeps it')
  await page.getByLabel('Role').fill('User')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('Account created').waitFor()
  t.equal(await planOf(portal, 'planned@example.com'), 'free')
})

test('a plan that the form does not offer is refused', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  const { id } = await portal.createAccount()
  await page.goto(`${portal.url}/portal/accounts/${id}`)
  await page.getByLabel('Plan').evaluate((select: { append(option: unknown): void; value: string }) => {
    // @ts-expect-error Option is the browser's.
    select.append(new Option('gold', 'gold'))
    select.value = 'gold'
  })
  await page.getByRole('button', { name: 'Save details' }).click()
  t.match(await page.locator('#plan-error').innerText(), /unknown plan: must be one of free, pro/i)
  t.equal(await planOf(portal, id), null)
  t.strictSame(await findBarriers(page), [])
})

test('accounts are imported with their plans', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  await page.goto(`${portal.url}/portal/accounts/import`)
  await page.getByLabel('Or paste it here').fill('email,plan\none@example.com,pro\ntwo@example.com,gold\n')
  await page.getByRole('button', { name: 'Import' }).click()
  t.match(await page.locator('tbody tr').innerText(), /3\s+plan: unknown plan: must be one of free, pro/)
  await page.getByLabel('Or paste it here').fill('email,plan\none@example.com,pro\ntwo@example.com,\n')
  await page.getByRole('button', { name: 'Import' }).click()
  await page.getByText('2 accounts created').waitFor()
  t.equal(await planOf(portal, 'one@example.com'), 'pro')
  t.equal(await planOf(portal, 'two@example.com'), null)
})

test('the usage page shows what is left of the plan', async (t, portal) => {
  const { page, id, secretKey } = await portal.createPerson()
  await page.goto(`${portal.url}/portal/usage`)
  t.equal(await page.locator('progress').count(), 0, 'no plan')
  await portal.command('accounts', 'update', id, '--plan', 'free')
  await until('the plan limits it', async () => {
    await page.reload()
    return (await page.locator('progress').count()) === 1 || undefined
  })
  t.equal(await page.locator('#quota').innerText(), '0 of 4 requests used this month (UTC)')
  await until('the quota is used up', async () => (await statusWith(portal, secretKey)) === 429 || undefined)
  await page.reload()
  const usedUp = /^4 of 4 requests used this month \(UTC\)\s+Used up$/
  t.match(await page.locator('#quota').innerText(), usedUp)
  t.strictSame(await findBarriers(page), [])
  const admin = await portal.createPerson({ role: 'Admin' })
  await admin.page.goto(`${portal.url}/portal/accounts/${id}/usage`)
  t.match(await admin.page.locator('#quota').innerText(), usedUp)
  t.match(await admin.page.locator('main').innerText(), 'Plan: free')
})

test('a key gets a quota, which Usage shows', async (t, portal) => {
  const { page, password, id } = await portal.createPerson()
  await page.goto(`${portal.url}/portal/integration`)
  const card = page.locator('#further-keys')
  const create = async (quota: string) => {
    if (!(await card.getByLabel('Quota').isVisible())) await card.getByText('Create a key').click()
    await card.getByLabel('Name').fill('agent')
    await card.getByLabel('Quota').fill(quota)
    await card.getByLabel('Your password').fill(password)
    await card.getByRole('button', { name: 'Create' }).click()
  }
  for (const wrong of ['ten', '0/day']) {
    await create(wrong)
    await card.getByText('Must be 1 to 1000000000000 per day or month').waitFor()
    t.equal(await card.getByLabel('Quota').inputValue(), wrong, 'a refused form keeps it')
  }
  t.strictSame(await findBarriers(page), [])
  await create('3/day')
  const key = await card.locator('.secret code').innerText()
  t.match(await card.locator('table').innerText(), '3 requests a day')
  for (const expected of [200, 200, 200, 429]) t.equal(await statusWith(portal, key), expected)
  await page.goto(`${portal.url}/portal/usage`)
  t.match(await page.locator('main').innerText(), /agent: 3 of 3 requests used today \(UTC\)/)
  t.strictSame(await findBarriers(page), [])
  t.match(await portal.command('usage', id), { keyQuotas: [{ key: 'agent', remaining: 0 }] })
})
