import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { graceSecondsMax, keyLifetimeMsMax } from '#accounts/keys/input.ts'
import { startBackend } from '../setup/backend.ts'
import { makeCertificate } from '../setup/certificates.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { adminPath, operations, startAdminApi } from './support/admin.ts'
import { assertProblem } from './support/problem.ts'

for (const driver of storeDrivers) {
  t.test(`the secret keys of an account through the admin API on ${driver}`, async (t) => {
    const backend = await startBackend(t)
    const upstreams = { backend: { targets: [{ url: backend.url }] } }
    const { gateway, call, callAs } = await startAdminApi(t, driver, { upstreams })
    const statusOf = async (key: unknown) =>
      (await fetch(`${gateway.url}/any/x`, { headers: { SecretKey: String(key) } })).status
    const { account, secretKey } = await gateway.createAccount()
    const path = `${adminPath}/${account.id}/keys`

    t.test('keys are created, listed and revoked one by one', async (t) => {
      const created = await call(operations.createKey, path, { name: 'ci' })
      t.equal(created.status, 201)
      t.equal(created.headers.location, `${path}/ci`)
      const ci = created.json()
      t.match(ci, { name: 'ci', scopes: [], addresses: [], expiresAt: null })
      const limits = {
        scopes: ['orders:read'],
        addresses: ['10.0.0.0/8'],
        expiresAt: '2035-01-31T01:00:00+01:00',
      }
      const limited = await call(operations.createKey, path, { name: 'limited', ...limits })
      t.match(limited.json(), { ...limits, expiresAt: '2035-01-31T00:00:00.000Z' })
      t.equal(await statusOf(ci.secretKey), 200)
      t.equal(await statusOf(limited.json().secretKey), 403)
      const listed = (await call(operations.listKeys, path)).json()
      t.equal(listed.nextCursor, null)
      t.match(listed.items, [
        { name: 'default', state: 'valid' },
        { name: 'ci', state: 'valid', revokedAt: null, imported: false },
        { name: 'limited', scopes: limits.scopes, addresses: limits.addresses },
      ])
      t.notMatch(JSON.stringify(listed), /gate_sk_/)
      t.equal((await call(operations.revokeKey, `${path}/ci?graceSeconds=60`)).status, 204)
      t.equal(await statusOf(ci.secretKey), 200)
      t.match((await call(operations.listKeys, path)).json().items, [{}, { name: 'ci', revokedAt: /Z$/ }, {}])
      t.match(await call(operations.revokeKey, `${path}/ci`), { status: 204, body: '' })
      t.strictSame([await statusOf(ci.secretKey), await statusOf(secretKey)], [401, 200])
    })

    t.test('a certificate becomes a key of one account', async (t) => {
      const { cert, key } = makeCertificate(t, 'DNS:a', 'a')
      const { fingerprint256, validToDate } = new X509Certificate(cert)
      const create = (certificate: string, name: string, at = path) =>
        call(operations.createKey, at, { name, certificate })
      const created = await create(cert, 'laptop')
      t.equal(created.status, 201)
      const validTo = validToDate.toISOString()
      t.strictSame(created.json(), {
        name: 'laptop',
        scopes: [],
        addresses: [],
        quota: null,
        expiresAt: validTo,
        certificate: { subject: 'CN=a', sha256: fingerprint256.replaceAll(':', '').toLowerCase(), validTo },
      })
      const items = (await call(operations.listKeys, path)).json().items as readonly unknown[]
      t.match(items.at(-1), { name: 'laptop', imported: true })
      const other = await gateway.createAccount()
      const fieldsOf = async (response: ReturnType<typeof call>) => {
        const errors = ((await response).json().errors ?? []) as readonly { readonly field: string }[]
        return errors.map(({ field }) => field)
      }
      t.strictSame(await fieldsOf(create(cert, 'again')), ['certificate'])
      t.strictSame(await fieldsOf(create(cert, 'a', `${adminPath}/${other.account.id}/keys`)), [
        'certificate',
      ])
      for (const wrong of ['', 'x', cert + key])
        t.strictSame(await fieldsOf(create(wrong, 'wrong')), ['certificate'])
      t.equal((await create(cert.padEnd(65_537), 'wrong')).status, 413)
      const later = {
        name: 'later',
        certificate: makeCertificate(t, 'DNS:b').cert,
        expiresInSeconds: 260_000,
      }
      t.strictSame(await fieldsOf(call(operations.createKey, path, later)), ['expiresAt'])
      t.equal((await call(operations.revokeKey, `${path}/laptop`)).status, 204)
      t.equal(
        (await create(cert, 'a', `${adminPath}/${other.account.id}/keys`)).status,
        201,
        'it is free again',
      )
    })

    t.test('all wrong values are reported at once', async (t) => {
      const { account } = await gateway.createAccount()
      const path = `${adminPath}/${account.id}/keys`
      for (const body of [
        { name: 'a b', scopes: 'x', expiresAt: 'soon' },
        { name: 'a b', scopes: ['a b'], expiresAt: 'soon' },
      ]) {
        const response = await call(operations.createKey, path, body)
        assertProblem(t, response, { status: 400, code: 'request-invalid' })
        const errors = response.json().errors as readonly { readonly field: string }[]
        t.strictSame(errors.map(({ field }) => field).toSorted(), ['expiresAt', 'name', 'scopes'])
      }
    })

    t.test('wrong values are refused with their fields', async (t) => {
      for (const [body, field] of [
        [{}, 'name'],
        [{ name: 'default' }, 'name'],
        [{ name: 'a/b' }, 'name'],
        [{ name: 'limited' }, 'name'],
        [{ name: 'a', scopes: ['b', 'b'] }, 'scopes'],
        [{ name: 'a', addresses: ['example.com'] }, 'addresses'],
        [{ name: 'a', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
        [{ name: 'a', expiresAt: '2035-01-01' }, 'expiresAt'],
        [{ name: 'a', expiresAt: '2035-13-01T00:00:00Z' }, 'expiresAt'],
        [{ name: 'a', expiresInSeconds: 0 }, 'expiresInSeconds'],
        [{ name: 'a', expiresInSeconds: keyLifetimeMsMax / 1_000 + 1 }, 'expiresInSeconds'],
        [{ name: 'a', expiresInSeconds: 1e15 }, 'expiresInSeconds'],
        [{ name: 'a', expiresInSeconds: 60, expiresAt: '2035-01-01T00:00:00Z' }, 'expiresInSeconds'],
        [{ name: 'a', colour: 'red' }, 'colour'],
      ] as const) {
        const response = await call(operations.createKey, path, body)
        assertProblem(t, response, { status: 400, code: 'request-invalid' })
        t.match(response.json(), { errors: [{ field }] }, JSON.stringify(body))
      }
      const longest = { name: 'longest', expiresInSeconds: keyLifetimeMsMax / 1_000 }
      t.equal((await call(operations.createKey, path, longest)).status, 201)
      for (const [query, field] of [
        ['none', 'name'],
        [`longest?graceSeconds=${graceSecondsMax + 1}`, 'graceSeconds'],
        ['longest?graceSeconds=-1', 'graceSeconds'],
      ] as const) {
        const response = await call(operations.revokeKey, `${path}/${query}`)
        assertProblem(t, response, { status: 400, code: 'request-invalid' })
        t.match(response.json(), { errors: [{ field }] }, query)
      }
      assertProblem(t, await call(operations.listKeys, `${adminPath}/unknown/keys`), {
        status: 404,
        code: 'account-not-found',
      })
    })

    t.test('only an Admin may, and only with a key that is not limited', async (t) => {
      const asUser = [`SecretKey: ${secretKey}`]
      assertProblem(t, await callAs(asUser, operations.listKeys, path), {
        status: 403,
        code: 'role-forbidden',
      })
      const other = await gateway.createAccount({ role: 'Admin' })
      const input = { name: 'limited', scopes: ['orders:read'] }
      const limited = await call(operations.createKey, `${adminPath}/${other.account.id}/keys`, input)
      const asLimited = [`SecretKey: ${limited.json().secretKey}`]
      const refused = await callAs(asLimited, operations.listKeys, path)
      assertProblem(t, refused, { status: 403, code: 'scope-forbidden' })
    })
  })
}
