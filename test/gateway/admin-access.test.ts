import t from 'tap'
import { storeDrivers } from '../setup/gateway.ts'
import { adminPath, operations, startAdminApi } from './support/admin.ts'
import { ask } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

t.test('access to the admin API', async (t) => {
  const { gateway, admin, call, callAs } = await startAdminApi(t, 'sqlite')
  const user = await gateway.createAccount()
  const other = await gateway.createAccount()
  const path = `${adminPath}/${other.account.id}`
  const all = [
    [operations.list, adminPath],
    [operations.create, adminPath, { email: 'x@example.com', firstName: '', lastName: '', role: 'Admin' }],
    [operations.get, path],
    [operations.update, path, { role: 'Admin' }],
    [operations.remove, path],
    [operations.resetSecretKey, `${path}/secret-key`, {}],
    [operations.resetApiKey, `${path}/api-key`, {}],
    [operations.listSessions, `${path}/sessions`],
    [operations.endSessions, `${path}/sessions`],
    [operations.resetSecondFactor, `${path}/second-factor`],
    [operations.apply, '/api/v1/admin/apply', { accounts: [{ email: 'x@example.com', role: 'Admin' }] }],
    [operations.audit, '/api/v1/admin/audit'],
    [operations.audit, '/api/v1/admin/audit?format=csv'],
  ] as const

  t.test('the admin API refuses every caller without the role, on every path', async (t) => {
    const { JwtToken } = await gateway.tokens(user)
    for (const [operation, at, body] of all) {
      for (const credential of [`SecretKey: ${user.secretKey}`, `Authorization: Bearer ${JwtToken}`]) {
        const response = await callAs([credential], operation, at, body)
        assertProblem(t, response, { status: 403, code: 'role-forbidden' })
      }
      const nobody = await callAs([], operation, at, body)
      assertProblem(t, nobody, { status: 401, code: 'credentials-missing' })
      const wrong = await callAs(['SecretKey: gsk_x'], operation, at, body)
      assertProblem(t, wrong, { status: 401, code: 'secret-key-invalid' })
      const both = [`SecretKey: ${admin.secretKey}`, `Authorization: Bearer ${JwtToken}`]
      assertProblem(t, await callAs(both, operation, at, body), {
        status: 400,
        code: 'credentials-ambiguous',
      })
    }
    const { account } = await gateway.operate(async ({ accounts }) => ({
      account: await accounts.get(other.account.id),
    }))
    t.match(account, { role: 'User', revision: 1 })
  })

  t.test('the admin API takes an Admin by either scheme', async (t) => {
    const { JwtToken } = await gateway.tokens(admin)
    for (const credential of [`SecretKey: ${admin.secretKey}`, `Authorization: Bearer ${JwtToken}`]) {
      t.equal((await callAs([credential], operations.get, path)).status, 200)
    }
  })

  t.test('the admin API refuses a caller before the body is sent', async (t) => {
    const headers = [
      `SecretKey: ${user.secretKey}`,
      'Content-Type: application/json',
      'Content-Length: 60000',
    ]
    const response = await ask(t, gateway.url, `POST ${adminPath}`, headers)
    assertProblem(t, response, { status: 403, code: 'role-forbidden' })
  })

  t.test(
    'an unknown parameter is refused, also by operations that have none, and nothing is done',
    async (t) => {
      const subject = { issuer: 'https://issuer.example.com', subject: 'ada' }
      for (const [operation, at, body] of [
        ...all.filter(([, at]) => !at.includes('?')),
        [operations.listKeys, `${path}/keys`],
        [operations.createKey, `${path}/keys`, { name: 'ci' }],
        ['POST /api/v1/admin/subjects', '/api/v1/admin/subjects', subject],
      ] as const) {
        const response = await call(operation, `${at}?graceSecond=3600`, body)
        assertProblem(t, response, { status: 400, code: 'request-invalid' })
        t.strictSame(response.json().errors, [{ field: 'graceSecond', message: 'is unknown' }], operation)
      }
      const kept = await gateway.operate(({ accounts }) => accounts.get(other.account.id))
      t.match(kept, { role: 'User', revision: 1 })
    },
  )

  t.test("an Admin's portal session is no credential for the admin API", async (t) => {
    const cookie = `Cookie: gatehouse-portal=gps_${admin.account.id}_${'a'.repeat(20)}_${'b'.repeat(43)}`
    assertProblem(t, await callAs([cookie], operations.list, adminPath), {
      status: 401,
      code: 'credentials-missing',
    })
  })

  t.test('other methods on the admin API are 405 with Allow, other paths are proxied', async (t) => {
    for (const [method, at, allow] of [
      ['PUT', adminPath, 'GET, HEAD, POST'],
      ['POST', path, 'GET, HEAD, PATCH, DELETE'],
      ['GET', `${path}/secret-key`, 'POST'],
      ['PATCH', `${path}/sessions`, 'GET, HEAD, DELETE'],
      ['DELETE', '/api/v1/admin/audit', 'GET, HEAD'],
      ['OPTIONS', '/api/v1/openapi.json', 'GET, HEAD'],
    ] as const) {
      const response = await ask(t, gateway.url, `${method} ${at}`, [`SecretKey: ${admin.secretKey}`])
      assertProblem(t, response, { status: 405, code: 'method-not-allowed' })
      t.equal(response.headers.allow, allow)
    }
    for (const at of ['/api/v1/admin', '/api/v1/admin/', `${path}/`, `${path}/x`, `${path}/sessions/x`]) {
      const response = await ask(t, gateway.url, `GET ${at}`, [`SecretKey: ${admin.secretKey}`])
      assertProblem(t, response, { status: 404, code: 'route-not-found' })
    }
  })
})

for (const driver of storeDrivers) {
  t.test(`the audit log through the admin API on ${driver}`, async (t) => {
    const { gateway, admin, call } = await startAdminApi(t, driver)
    const { account } = await gateway.createAccount({ email: '=cmd@example.com' })
    await call(operations.update, `${adminPath}/${account.id}`, { role: 'Auditor', firstName: '"x", y' })
    await call(operations.resetSecretKey, `${adminPath}/${account.id}/secret-key`, { graceSeconds: 60 })
    await call(operations.resetApiKey, `${adminPath}/${account.id}/api-key`)
    await call(operations.remove, `${adminPath}/${account.id}`)

    t.test('an invalid cursor of the audit log is refused, not answered with no entries', async (t) => {
      for (const cursor of ['', 'x', '-1', '1-', '1.5', encodeURIComponent(' 1'), '1'.repeat(16)]) {
        const answer = await call(operations.audit, `/api/v1/admin/audit?cursor=${cursor}`)
        t.equal(answer.status, 400, cursor)
        t.match(answer.json(), { code: 'request-invalid', errors: [{ field: 'cursor' }] }, cursor)
      }
    })

    t.test('the audit log names actor, action, subject, time and address, newest first', async (t) => {
      const seen = []
      for (let cursor = ''; ; ) {
        const page = (await call(operations.audit, `/api/v1/admin/audit?limit=2${cursor}`)).json()
        seen.push(...(page.items as readonly Record<string, unknown>[]))
        if (page.nextCursor === null) break
        cursor = `&cursor=${page.nextCursor}`
      }
      t.strictSame(
        seen.map(({ action }) => action),
        [
          'account-deleted',
          'api-key-reset',
          'secret-key-reset',
          'account-updated',
          'account-created',
          'account-created',
        ],
      )
      const { id: adminId } = admin.account
      const by = { channel: 'api', actor: 'admin@example.com', actorId: adminId, address: '127.0.0.1' }
      for (const entry of seen.slice(0, 4)) {
        t.match(entry, { ...by, target: account.email, targetId: account.id })
        t.ok(Math.abs(Date.parse(String(entry.at)) - Date.now()) < 60_000)
      }
      t.match(seen[3], { details: { role: 'Auditor', firstName: '"x", y' } })
      t.match(seen[2], { details: { graceSeconds: 60 } })
      t.match(seen[4], { channel: 'cli', actorId: null, address: null, targetId: account.id })
    })

    t.test('the audit log can be exported whole as CSV and as JSON lines', async (t) => {
      const csv = await call(operations.audit, '/api/v1/admin/audit?format=csv')
      t.match(csv.headers['content-type'], /^text\/csv/)
      t.equal(csv.headers['content-disposition'], 'attachment; filename="audit.csv"')
      const lines = csv.body.split('\r\n')
      t.equal(lines[0], 'at,channel,actor,actorId,address,action,target,targetId,details')
      t.equal(lines.length, 1 + 6 + 1)
      t.match(lines[1], `account-deleted,"'=cmd@example.com",${account.id},{}`, 'no formula')
      const jsonl = await call(operations.audit, '/api/v1/admin/audit?format=jsonl')
      const entries = jsonl.body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { action: string })
      t.equal(entries.length, 6)
      t.equal(entries[0]?.action, 'account-deleted')
    })

    t.test('filters of the audit log apply to every page and to exports', async (t) => {
      const seen = []
      for (let cursor = ''; ; ) {
        const query = `action=account-created&limit=1${cursor}`
        const page = (await call(operations.audit, `/api/v1/admin/audit?${query}`)).json()
        seen.push(...(page.items as readonly Record<string, unknown>[]))
        if (page.nextCursor === null) break
        cursor = `&cursor=${page.nextCursor}`
      }
      t.strictSame(
        seen.map(({ targetId }) => targetId),
        [account.id, admin.account.id],
      )
      const who = encodeURIComponent('=CMD@example.com')
      const itemsOf = async (query: string) =>
        (await call(operations.audit, `/api/v1/admin/audit?${query}`)).json().items as readonly unknown[]
      t.equal((await itemsOf(`who=${who}`)).length, 5)
      t.match(await itemsOf(`who=${who}&action=api-key-reset`), [{ action: 'api-key-reset' }])
      t.strictSame(await itemsOf('who=nobody@example.com'), [])
      const csv = await call(operations.audit, `/api/v1/admin/audit?format=csv&who=${who}`)
      t.equal(csv.body.split('\r\n').length, 1 + 5 + 1)
      const none = await call(operations.audit, '/api/v1/admin/audit?format=jsonl&who=no-such-actor')
      t.equal(none.body, '')
      for (const wrong of ['action=account-burnt', 'action=', 'who=', `who=${'x'.repeat(255)}`]) {
        const refused = await call(operations.audit, `/api/v1/admin/audit?${wrong}`)
        assertProblem(t, refused, { status: 400, code: 'request-invalid' })
      }
    })

    t.test('an unknown export format of the audit log is refused', async (t) => {
      const wrong = await call(operations.audit, '/api/v1/admin/audit?format=xml')
      assertProblem(t, wrong, { status: 400, code: 'request-invalid' })
    })
  })
}
