import t from 'tap'
import { graceSecondsMax } from '#accounts/keys/input.ts'
import { startBackend } from '../setup/backend.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { adminPath, operations, startAdminApi } from './support/admin.ts'
import { assertProblem } from './support/problem.ts'

for (const driver of storeDrivers) {
  t.test(`keys and sessions through the admin API on ${driver}`, async (t) => {
    const backend = await startBackend(t)
    const upstreams = { backend: { targets: [{ url: backend.url }] } }
    const { gateway, call } = await startAdminApi(t, driver, { upstreams })
    const statusOf = async (headers: Record<string, string>) =>
      (await fetch(`${gateway.url}/any/x`, { headers })).status

    t.test('a new secret key works at once, the old one until the overlap ends', async (t) => {
      const { account, secretKey } = await gateway.createAccount()
      const path = `${adminPath}/${account.id}/secret-key`
      const first = await call(operations.resetSecretKey, path, { graceSeconds: 3_600 })
      t.equal(first.status, 200)
      t.strictSame(Object.keys(first.json()), ['secretKey'])
      const second = String(first.json().secretKey)
      t.strictSame(
        [await statusOf({ SecretKey: secretKey }), await statusOf({ SecretKey: second })],
        [200, 200],
      )
      const third = String(
        (await call(operations.resetSecretKey, path, { graceSeconds: 0 })).json().secretKey,
      )
      const statuses = [secretKey, second, third].map((key) => statusOf({ SecretKey: key }))
      t.strictSame(await Promise.all(statuses), [401, 401, 200])
      // Without a body, and with an empty one: at once.
      for (const body of [undefined, {}])
        t.equal((await call(operations.resetSecretKey, path, body)).status, 200)
      t.equal(await statusOf({ SecretKey: third }), 401)
    })

    t.test('an overlap of keys lasts 30 days at most', async (t) => {
      const { account } = await gateway.createAccount()
      const path = `${adminPath}/${account.id}/secret-key`
      t.equal((await call(operations.resetSecretKey, path, { graceSeconds: graceSecondsMax })).status, 200)
      for (const graceSeconds of [graceSecondsMax + 1, 1e15, -1, 0.5, '60', null]) {
        const response = await call(operations.resetSecretKey, path, { graceSeconds })
        assertProblem(t, response, { status: 400, code: 'request-invalid' })
      }
    })

    t.test('a new API key gets tokens, the old one does not', async (t) => {
      const account = await gateway.createAccount()
      const reset = await call(operations.resetApiKey, `${adminPath}/${account.account.id}/api-key`)
      t.equal(reset.status, 200)
      t.strictSame(Object.keys(reset.json()), ['apiKey'])
      await t.rejects(gateway.tokens(account))
      t.ok((await gateway.tokens({ ...account, apiKey: String(reset.json().apiKey) })).JwtToken)
    })

    t.test('sessions are listed in pages with their origin, and can be ended', async (t) => {
      const account = await gateway.createAccount()
      const path = `${adminPath}/${account.account.id}/sessions`
      const tokens = []
      for (let count = 0; count < 5; count++) tokens.push(await gateway.tokens(account))
      const seen: string[] = []
      for (let cursor = ''; ; ) {
        const page = (await call(operations.listSessions, `${path}?limit=2${cursor}`)).json()
        const items = page.items as readonly { readonly id: string; readonly createdAt: string }[]
        t.ok(items.length <= 2)
        for (const item of items) t.match(item, { refreshes: 0, address: '127.0.0.1', client: 'node' })
        seen.push(...items.map(({ id }) => id))
        if (page.nextCursor === null) break
        cursor = `&cursor=${page.nextCursor}`
      }
      t.equal(new Set(seen).size, 5)
      for (const cursor of ['', 'x', 'W10', 'f'.repeat(64)]) {
        const answer = await call(operations.listSessions, `${path}?cursor=${cursor}`)
        assertProblem(t, answer, { status: 400, code: 'request-invalid' })
        t.match(answer.json(), { errors: [{ field: 'cursor' }] })
      }
      const [one = ''] = seen
      t.match(await call(operations.endSessions, `${path}?session=${one}`), { status: 204, body: '' })
      const statuses = tokens.map(({ JwtToken }) => statusOf({ Authorization: `Bearer ${JwtToken}` }))
      t.strictSame((await Promise.all(statuses)).toSorted(), [200, 200, 200, 200, 401])
      t.match(await call(operations.endSessions, path), { status: 204, body: '' })
      t.strictSame((await call(operations.listSessions, path)).json(), { items: [], nextCursor: null })
      for (const { JwtToken } of tokens) t.equal(await statusOf({ Authorization: `Bearer ${JwtToken}` }), 401)
      t.equal((await call(operations.endSessions, `${path}?session=nonsense`)).status, 204)
    })
  })
}
