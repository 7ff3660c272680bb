import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../setup/backend.ts'
import { until } from '../setup/net.ts'
import { findBarriers } from './support/axe.ts'
import { portalTests } from './support/portal.ts'

let status = 503
const got: string[] = []
const receiver = await startServer(t, async (request, response) => {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  got.push(String(JSON.parse(body).type))
  response.writeHead(status).end()
})
const secretFile = join(t.testdir({}), 'secret')
writeFileSync(secretFile, `whsec_${Buffer.alloc(32, 7).toString('base64')}`, { mode: 0o600 })
const secret = { file: secretFile }
const test = portalTests(t, { config: { events: [{ url: receiver, secret, types: ['account.created'] }] } })
const testWithout = portalTests(t)

test('an Admin sees a receiver that fails, tests it, and has it tried again', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  await page.goto(`${portal.url}/portal/audit`)
  await page.getByRole('link', { name: 'Events' }).click()
  await until('the receiver has failed', async () => {
    await page.reload()
    return (await page.getByText('Failing').count()) === 1 || undefined
  })
  t.match(await page.locator('td[data-label=Pending]').textContent(), /^[1-9]$/)
  t.match(await page.locator('td[data-label=State]').textContent(), /Last failure .*503.*Next try/s)
  await page.getByRole('button', { name: 'Send a test event' }).click()
  t.match(await page.getByRole('alert').textContent(), /has not accepted the test event: .*503/)
  t.strictSame(await findBarriers(page), [])
  status = 204
  await page.getByRole('button', { name: 'Send a test event' }).click()
  await page.getByText('has accepted a test event').waitFor()
  t.ok(got.includes('gatehouse.test'))
  if ((await page.getByRole('button', { name: 'Retry now' }).count()) > 0) {
    await page.getByRole('button', { name: 'Retry now' }).click()
    await page.getByText('What is pending is tried again within a second.').waitFor()
  }
  await until('everything is delivered', async () => {
    await page.reload()
    return (await page.locator('td[data-label=Pending]').textContent()) === '0' || undefined
  })
  await page.getByText('Working').waitFor()
  await page.goto(`${portal.url}/portal/audit?action=event-tested`)
  t.equal(await page.locator('tbody tr').count(), 2)
})

testWithout('without receivers the page says where they are configured', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  await page.goto(`${portal.url}/portal/events`)
  t.match(await page.locator('main').textContent(), 'Name one under events in the config')
})
