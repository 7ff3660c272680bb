import t from 'tap'
import { storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { adminPath, operations, startAdminApi } from './support/admin.ts'
import { assertProblem } from './support/problem.ts'

const bob = { email: 'bob@example.com', firstName: 'Bob', lastName: 'B.', role: 'User' }
const profile = ['id', 'email', 'firstName', 'lastName', 'role', 'isVerified']

interface Page {
  readonly items: readonly { readonly id: string; readonly email: string }[]
  readonly nextCursor: string | null
}

/** The status for a key, once it can be decided: on a busy machine Redis may answer too late, which is a 503. */
function decidedStatus(url: string, secretKey: string): Promise<number> {
  return until('it is decided', async () => {
    const { status } = await fetch(url, { headers: { SecretKey: secretKey } })
    return status === 503 ? undefined : status
  })
}

for (const driver of storeDrivers) {
  t.test(`accounts through the admin API on ${driver}`, async (t) => {
    const { gateway, admin, call } = await startAdminApi(t, driver)

    t.test('a created account is returned flat, with its keys', async (t) => {
      const created = await call(operations.create, adminPath, { ...bob, isVerified: true })
      t.equal(created.status, 201)
      const { id, secretKey, apiKey, setupUrl, ...rest } = created.json()
      t.strictSame(Object.keys(created.json()), [...profile, 'secretKey', 'apiKey', 'setupUrl'])
      t.strictSame(rest, { ...bob, isVerified: true })
      t.equal(created.headers.location, `${adminPath}/${id}`)
      t.equal(created.headers['cache-control'], 'no-store')
      t.match([secretKey, apiKey, setupUrl], [/^gate_sk_/, /^gate_ak_/, /\/portal\/setup#gsl_/])
      const shown = await call(operations.get, `${adminPath}/${id}`)
      t.equal(shown.status, 200)
      t.strictSame(Object.keys(shown.json()), [...profile, 'disabled', 'plan', 'createdAt'])
      t.match(shown.json(), { id, ...bob, isVerified: true, disabled: false })
      t.equal(
        (await fetch(`${gateway.url}/key/x`, { headers: { SecretKey: String(secretKey) } })).status,
        502,
      )
    })

    t.test('an account needs no more than an e-mail', async (t) => {
      const created = await call(operations.create, adminPath, { email: 'only@example.com' })
      const names = { firstName: '', lastName: '' }
      t.match(created, { status: 201 })
      t.match(created.json(), { email: 'only@example.com', ...names, role: 'User', isVerified: false })
      t.equal(created.body.at(-1), '\n', 'JSON ends with a newline')
    })

    t.test('an e-mail in use is 409, whatever its case', async (t) => {
      const again = await call(operations.create, adminPath, { ...bob, email: 'BOB@example.com' })
      assertProblem(t, again, { status: 409, code: 'account-exists' })
      const { id } = admin.account
      const renamed = await call(operations.update, `${adminPath}/${id}`, { email: 'Bob@example.com' })
      assertProblem(t, renamed, { status: 409, code: 'account-exists' })
    })

    t.test('missing, unknown and mistyped fields are each named in the error', async (t) => {
      const cases: readonly (readonly [body: unknown, fields: readonly string[]])[] = [
        [{}, ['email']],
        [{ email: 'x', role: 5, plan: 'nope', nope: 1 }, ['email', 'nope', 'plan', 'role']],
        [{ email: 'x', role: '1', plan: 'nope' }, ['email', 'plan', 'role']],
        [{ ...bob, email: 1, nope: 1 }, ['email', 'nope']],
        [{ ...bob, isVerified: 'yes' }, ['isVerified']],
        [{ ...bob, email: 'x', role: '1' }, ['email', 'role']],
        [{ ...bob, email: '\ud805@x', lastName: '\udc00' }, ['email', 'lastName']],
        [{ ...bob, email: `${'x'.repeat(300)}@example.com` }, ['email']],
        [{ ...bob, firstName: 'x'.repeat(101), lastName: 'a\nb' }, ['firstName', 'lastName']],
        [{ ...bob, constructor: 1 }, ['constructor']],
        [{ ...bob, [admin.secretKey]: 1 }, ['[secret]']],
      ]
      for (const [body, fields] of cases) {
        const response = await call(operations.create, adminPath, body)
        assertProblem(t, response, { status: 400, code: 'request-invalid' })
        const errors = response.json().errors as readonly { readonly field: string }[]
        t.strictSame(errors.map(({ field }) => field).toSorted(), fields, JSON.stringify(body))
      }
      for (const body of [[], 1, 'x', null]) {
        const response = await call(operations.create, adminPath, body)
        assertProblem(t, response, { status: 400, code: 'request-invalid' })
      }
    })

    t.test('an update takes any of the fields, and at least one', async (t) => {
      const { account, secretKey } = await gateway.createAccount()
      const path = `${adminPath}/${account.id}`
      for (const change of [
        { email: 'Carol@example.com' },
        { firstName: 'Carol' },
        { lastName: '' },
        { role: 'Auditor' },
        { isVerified: false },
        { disabled: true },
        { disabled: false, role: 'User' },
      ]) {
        const response = await call(operations.update, path, change)
        t.equal(response.status, 200)
        t.match(response.json(), change)
        t.match((await call(operations.get, path)).json(), change)
      }
      for (const change of [{}, { id: 'x' }, { isDisabled: true }, { disabled: 'true' }, { email: '' }]) {
        const response = await call(operations.update, path, change)
        assertProblem(t, response, { status: 400, code: 'request-invalid' })
      }
      await call(operations.update, path, { disabled: true })
      const call403 = await fetch(`${gateway.url}/key/x`, { headers: { SecretKey: secretKey } })
      t.equal(call403.status, 403)
    })

    t.test('a deleted account is 204, then 404 on every path', async (t) => {
      const { account, secretKey } = await gateway.createAccount()
      const path = `${adminPath}/${account.id}`
      const deleted = await call(operations.remove, path)
      t.match(deleted, { status: 204, body: '' })
      for (const [operation, below, body] of [
        [operations.get, ''],
        [operations.update, '', { role: 'User' }],
        [operations.remove, ''],
        [operations.resetSecretKey, '/secret-key', {}],
        [operations.resetApiKey, '/api-key'],
        [operations.listSessions, '/sessions'],
        [operations.endSessions, '/sessions'],
        [operations.resetSecondFactor, '/second-factor'],
      ] as const) {
        const response = await call(operation, path + below, body)
        assertProblem(t, response, { status: 404, code: 'account-not-found' })
      }
      t.equal(await decidedStatus(`${gateway.url}/key/x`, secretKey), 401)
      const byEmail = await call(operations.get, `${adminPath}/bob@example.com`)
      assertProblem(t, byEmail, { status: 404, code: 'account-not-found' })
    })

    t.test('an Admin cannot delete, disable or demote their own account', async (t) => {
      const path = `${adminPath}/${admin.account.id}`
      for (const change of [{ disabled: true }, { role: 'User' }]) {
        const response = await call(operations.update, path, change)
        assertProblem(t, response, { status: 409, code: 'own-account' })
      }
      assertProblem(t, await call(operations.remove, path), { status: 409, code: 'own-account' })
      t.match((await call(operations.update, path, { role: 'Admin', firstName: 'A' })).json(), {
        firstName: 'A',
      })
    })

    t.test('accounts are listed in pages, and searched by the beginnings of words', async (t) => {
      const inputs = Array.from({ length: 7 }, (_, index) => ({
        email: `zoe${index}@example.com`,
        firstName: 'Zoe',
        lastName: `Q${index}`,
        role: 'User',
        isVerified: false,
      }))
      await gateway.operate(({ accounts }) => accounts.createAll(inputs))
      const read = async (query: string) => {
        const emails: string[] = []
        let cursor: string | null = ''
        while (cursor !== null) {
          const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
          const page = (
            await call(operations.list, `${adminPath}?limit=3${query}${more}`)
          ).json() as unknown as Page
          t.ok(page.items.length <= 3)
          emails.push(...page.items.map(({ email }) => email))
          cursor = page.nextCursor
        }
        return emails
      }
      const all = await read('')
      t.equal(new Set(all).size, all.length)
      for (const { email } of inputs) t.ok(all.includes(email), email)
      t.strictSame(
        (await read('&q=zoe')).toSorted(),
        inputs.map(({ email }) => email),
      )
      t.strictSame(await read('&q=ZOE+q3'), ['zoe3@example.com'])
      t.strictSame(await read(`&q=${admin.account.id}`), ['admin@example.com'])
      t.strictSame(await read('&q=nobody'), [])
      t.strictSame(
        (await read('&q=OE')).toSorted(),
        inputs.map(({ email }) => email),
        'anywhere in a name',
      )
      t.strictSame(
        await read('&q=zoe&sort=email'),
        inputs.map(({ email }) => email),
      )
      t.equal((await read('&q=zoe&sort=oldest')).length, inputs.length)
      t.strictSame(await read('&role=Admin&disabled=false'), ['admin@example.com'])
      t.strictSame(await read('&q=zoe&role=Admin'), [])
      t.strictSame(await read(`&q=${admin.account.id}&role=User`), [])
      t.strictSame(await read('&q=zoe&plan=free'), [])
      t.equal((await read('&plan=none&q=zoe')).length, inputs.length)
      t.strictSame(await read('&inactiveSince=2000-01-01'), [])
      // Usage is written to the store once a second.
      const active = await until('the use is stored', async () => {
        const emails = await read('&activeSince=2000-01-01')
        return emails.length > 0 ? emails : undefined
      })
      t.ok(active.includes('admin@example.com'))
    })

    t.test('the limit of an account list is enforced at, one over and far over its bound', async (t) => {
      for (const query of ['limit=1', 'limit=100', '', `q=${'x'.repeat(200)}`, 'q=']) {
        t.equal((await call(operations.list, `${adminPath}?${query}`)).status, 200, query)
      }
      for (const query of [
        'limit=0',
        'limit=101',
        'limit=1e9',
        'limit=-1',
        'limit=1.5',
        'limit=',
        'limit=x',
        'limit=1&limit=2',
        `q=${'x'.repeat(201)}`,
        `q=${'x'.repeat(8_000)}`,
        'cursor=x',
        'cursor=W10',
        'cursor=',
        'disabled=yes',
        'sort=age',
        'activeSince=2026-02-30',
        'inactiveSince=yesterday',
        'sort=email&cursor=x',
        'q=zoe&cursor=x',
        'nope=1',
      ]) {
        const response = await call(operations.list, `${adminPath}?${query}`)
        assertProblem(t, response, { status: 400, code: 'request-invalid' })
      }
    })
  })
}
