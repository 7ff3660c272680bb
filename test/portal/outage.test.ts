import t from 'tap'
import { until } from '../setup/net.ts'
import { findBarriers } from './support/axe.ts'
import { portalTests } from './support/portal.ts'

const test = portalTests(t, { driver: 'redis' })

test('with the store out of reach the portal says so, and goes on by itself once it is back', async (t, portal) => {
  const { page } = await portal.createPerson()
  portal.redis?.signal('SIGSTOP')
  const answer = await page.goto(`${portal.url}/portal/integration`)
  t.equal(answer?.status(), 503)
  t.equal(answer?.headers()['retry-after'], '1')
  await page.getByRole('heading', { name: 'It cannot be decided now' }).waitFor()
  t.strictSame(await findBarriers(page), [])
  portal.redis?.signal('SIGCONT')
  await until('the store is back', async () => (await page.reload())?.status() === 200, 30_000)
  await page.getByRole('heading', { name: 'Integration' }).waitFor()
})
