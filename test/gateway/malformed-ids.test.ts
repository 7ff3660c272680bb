import t from 'tap'
import { storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { adminPath, startAdminApi } from './support/admin.ts'
import { ask } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

/** IDs that no account has, and that a router might refuse on its own. */
const ids = ['%FF', 'a%ffb', '%C3', '%ED%A0%80', '%C3%A4', '%25FF', 'x'.repeat(120), 'x'.repeat(9_000)]

for (const driver of storeDrivers) {
  t.test(`malformed account IDs on ${driver}`, async (t) => {
    const { gateway, admin } = await startAdminApi(t, driver)
    const asAdmin = [`SecretKey: ${admin.secretKey}`]

    t.test('a malformed ID is 401 without a credential, like any other', async (t) => {
      for (const id of ids) {
        for (const path of [adminPath, '/portal/accounts']) {
          const response = await ask(t, gateway.url, `GET ${path}/${id}`)
          assertProblem(t, response, { status: 401, code: 'credentials-missing' })
          t.equal(response.headers['x-request-id'], response.json().requestId)
        }
      }
    })

    t.test('a malformed ID is 404 for an Admin', async (t) => {
      for (const id of ids) {
        const path = `${adminPath}/${id}`
        const missing = { status: 404, code: 'account-not-found' }
        assertProblem(t, await ask(t, gateway.url, `GET ${path}`, asAdmin), missing)
        assertProblem(t, await ask(t, gateway.url, `POST ${path}/secret-key`, asAdmin), missing)
        assertProblem(t, await ask(t, gateway.url, `PUT ${path}`, asAdmin), {
          status: 405,
          code: 'method-not-allowed',
        })
      }
    })

    t.test('an ID with an @ in it is not taken for an e-mail', async (t) => {
      const { account } = await gateway.createAccount()
      const mistyped = account.id.replace(/^(.{8})/, '$1%40')
      const missing = { status: 404, code: 'account-not-found' }
      for (const line of [`GET ${adminPath}/${mistyped}`, `DELETE ${adminPath}/${mistyped}`])
        assertProblem(t, await ask(t, gateway.url, line, asAdmin), missing)
      t.equal((await ask(t, gateway.url, `GET ${adminPath}/${account.id}`, asAdmin)).status, 200)
    })

    t.test('a malformed ID below the portal is a missing page', async (t) => {
      for (const path of ['/portal/%FF', '/portal/assets/%FF', `/portal/${'x'.repeat(120)}`]) {
        const response = await ask(t, gateway.url, `GET ${path}`)
        assertProblem(t, response, { status: 404, code: 'route-not-found' })
      }
    })

    t.test('a request for a malformed ID is logged and counted as one to the gateway itself', async (t) => {
      const lines = await until('all are logged', () => {
        const found = gateway.logLines.filter((line) => line.includes('"request"'))
        return found.length > ids.length * 5 ? found : undefined
      })
      t.strictSame([...new Set(lines.map((line) => JSON.parse(line).route))], ['_gateway'])
    })
  })
}
