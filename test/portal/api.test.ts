import t from 'tap'
import { findBarriers } from './support/axe.ts'
import { portalTests } from './support/portal.ts'

const scoped = { scopes: ['orders:read'], rateLimit: { limit: 600, per: '1m' } }
const test = portalTests(t, {
  config: {
    routes: [
      { name: 'open', path: '/open', upstream: 'backend', auth: 'none' },
      {
        name: 'orders',
        path: '/orders',
        upstream: 'backend',
        auth: 'any',
        methods: ['GET', 'POST'],
        ...scoped,
      },
      { name: 'ops', path: '/ops', upstream: 'backend', auth: 'secretKey', roles: ['Admin'] },
      { name: 'tenants', path: '/t', host: '*.example.com', upstream: 'backend', auth: 'bearer' },
      { name: 'closed', path: '/closed', auth: 'deny' },
    ],
  },
})

test('people see the routes that they may call, and the endpoints of the gateway', async (t, portal) => {
  const { page } = await portal.createPerson()
  await page.getByRole('link', { name: 'API reference' }).click()
  await page.getByRole('heading', { name: 'API reference' }).waitFor()
  const rows = await page.locator('tbody tr').allTextContents()
  t.strictSame(
    rows.map((row) => row.replaceAll(/\s+/g, ' ').trim()),
    [
      'ordersGET, POST /ordersSecret key or access tokenorders:read600 requests per minute of your account',
      'tenantsAny method *.example.com/tAccess tokenKeys without scopes onlyNone',
      'openAny method /openNoneNoneNone',
    ],
  )
  const text = await page.locator('main').textContent()
  t.notMatch(text, /\/api\/v1\/admin\//)
  t.match(text, 'client.fetch("/orders")')
  await page.getByText('POST /api/v1/accounts/access-token', { exact: true }).click()
  const operation = page.locator('details[open]')
  t.match(
    await operation.textContent(),
    /Exchanges both keys.*"SecretKey".*Responses.*200The tokens\..*"JwtToken"/s,
  )
  t.strictSame(await findBarriers(page), [])
  t.equal(await page.getByRole('link', { name: 'OpenAPI' }).getAttribute('href'), '/api/v1/openapi.json')
})

test('Admins see the admin API too, and their routes', async (t, portal) => {
  const { page } = await portal.createPerson({ role: 'Admin' })
  await page.goto(`${portal.url}/portal/api`)
  const text = await page.locator('main').textContent()
  t.match(text, 'GET /api/v1/admin/accounts')
  t.match(text, 'Any method /ops')
  t.notMatch(text, '/closed')
})
