import t, { type Test } from 'tap'
import type { CreatedAccount } from '#accounts/accounts.ts'
import { storeDrivers, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { adminPath, operations, startAdminApi } from './support/admin.ts'
import { ask } from './support/ask.ts'
import { readMetrics } from './support/metrics.ts'
import { assertProblem, codeOf } from './support/problem.ts'

const newcomer = { email: 'newcomer@example.com', firstName: '', lastName: '', role: 'Admin' }

for (const driver of storeDrivers) {
  t.test(`an Admin who delays the body, on ${driver}`, async (t) => {
    const { gateway, admin, call } = await startAdminApi(t, driver)

    t.test('an Admin disabled while the body was delayed changes nothing', async (t) => {
      const other = await gateway.createAccount({ role: 'Admin' })
      const { JwtToken } = await gateway.tokens(other)
      const byKey = await holdBack(t, gateway, `SecretKey: ${other.secretKey}`)
      const byToken = await holdBack(t, gateway, `Authorization: Bearer ${JwtToken}`)
      await change(t, gateway, other, { isDisabled: true }, 'account-disabled')
      assertProblem(t, await byKey(), { status: 403, code: 'account-disabled' })
      assertProblem(t, await byToken(), { status: 401, code: 'token-revoked' })
    })

    t.test('an Admin demoted while the body was delayed changes nothing', async (t) => {
      const other = await gateway.createAccount({ role: 'Admin' })
      const sendBody = await holdBack(t, gateway, `SecretKey: ${other.secretKey}`)
      await change(t, gateway, other, { role: 'User' }, 'role-forbidden')
      assertProblem(t, await sendBody(), { status: 403, code: 'role-forbidden' })
    })

    t.test('an Admin whose key was bound to other addresses meanwhile changes nothing', async (t) => {
      const { account } = await gateway.createAccount({ role: 'Admin' })
      const limits = { name: 'ci', scopes: [], addresses: [], expiresAt: undefined }
      const secretKey = await gateway.operate(({ secretKeys }) => secretKeys.create(account.id, limits))
      const sendBody = await holdBack(t, gateway, `SecretKey: ${secretKey}`)
      const keys = [{ name: 'ci', addresses: ['192.0.2.1'] }]
      const applied = await call(operations.apply, '/api/v1/admin/apply', {
        accounts: [{ email: account.email, keys }],
      })
      t.match(applied.json(), { complete: true, changes: [{ done: true }] })
      await untilRefused(t, gateway, secretKey, 'address-forbidden')
      assertProblem(t, await sendBody(), { status: 403, code: 'address-forbidden' })
    })

    t.test('an Admin who only delayed the body succeeds', async (t) => {
      const decided = async () => (await readMetrics(gateway.opsUrl)).value('gatehouse_auth_decisions_total')
      const before = await decided()
      const sendBody = await holdBack(t, gateway, `SecretKey: ${admin.secretKey}`)
      t.equal((await sendBody()).status, 201, 'and the e-mail was not taken by those before')
      t.equal(await decided(), before + 1, 'which is counted once')
    })
  })
}

/** Sends a head that is admitted. @returns what sends the body and reads the answer */
async function holdBack(t: Test, { url }: TestGateway, credential: string) {
  const body = JSON.stringify(newcomer)
  const client = await connectRaw(t, url)
  const head = [
    `POST ${adminPath} HTTP/1.1`,
    'Host: x',
    credential,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ]
  client.send(`${head.join('\r\n')}\r\n\r\n`)
  t.equal((await client.response()).status, 100, 'was let in')
  return () => client.send(body).response()
}

/** Changes an Admin from outside; resolves once the gateway knows. @param code what they are refused with since */
async function change(
  t: Test,
  gateway: TestGateway,
  { account, secretKey }: CreatedAccount,
  changes: { readonly isDisabled?: boolean; readonly role?: string },
  code: string,
): Promise<void> {
  await gateway.operate(({ accounts }) => accounts.update(account.id, changes))
  await untilRefused(t, gateway, secretKey, code)
}

async function untilRefused(t: Test, { url }: TestGateway, secretKey: string, code: string): Promise<void> {
  await until(code, async () => {
    const response = await ask(t, url, `GET ${adminPath}`, [`SecretKey: ${secretKey}`])
    return codeOf(response) === code || undefined
  })
}
