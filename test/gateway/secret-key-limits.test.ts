import t from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway, storeDrivers, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'

const unlimited = { scopes: [], addresses: [], expiresAt: undefined }

async function answer(gateway: TestGateway, path: string, headers: Readonly<Record<string, string>>) {
  const response = await fetch(gateway.url + path, { headers })
  const body = await response.text()
  return response.status === 200 ? '200' : `${response.status} ${JSON.parse(body).code}`
}

for (const driver of storeDrivers) {
  t.test(`secret keys with limits at the gateway on ${driver}`, async (t) => {
    const backend = await startBackend(t)
    let ahead = 0
    const gateway = await startGateway(t, {
      driver,
      clock: () => Date.now() + ahead,
      config: {
        upstreams: { backend: { targets: [{ url: backend.url }] } },
        trustedProxies: ['127.0.0.1/32'],
        routes: [
          { name: 'orders', path: '/orders', upstream: 'backend', auth: 'any', scopes: ['orders:read'] },
          { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
        ],
      },
    })
    const created = await gateway.createAccount({ role: 'Admin' })
    const { id } = created.account
    const create = (name: string, limits: object) =>
      gateway.operate(({ secretKeys }) => secretKeys.create(id, { ...unlimited, name, ...limits }))
    const bearerOf = async (secretKey: string) => ({
      Authorization: `Bearer ${(await gateway.tokens({ ...created, secretKey })).JwtToken}`,
    })

    t.test('a key with scopes, and its tokens, pass only where the route names them', async (t) => {
      const SecretKey = await create('scoped', { scopes: ['orders:read', 'other'] })
      const wrong = await create('wrong-scope', { scopes: ['other'] })
      for (const headers of [{ SecretKey }, await bearerOf(SecretKey)]) {
        t.equal(await answer(gateway, '/orders', headers), '200')
        t.equal(await answer(gateway, '/any', headers), '403 scope-forbidden')
        t.equal(await answer(gateway, '/api/v1/admin/accounts', headers), '403 scope-forbidden')
      }
      t.equal(await answer(gateway, '/orders', { SecretKey: wrong }), '403 scope-forbidden')
      t.equal(await answer(gateway, '/orders', { SecretKey: created.secretKey }), '200')
    })

    t.test('a key with addresses is refused from any other', async (t) => {
      const SecretKey = await create('from', { addresses: ['203.0.113.0/24'] })
      const from = (address: string) => answer(gateway, '/any', { SecretKey, 'X-Forwarded-For': address })
      t.equal(await from('203.0.113.255'), '200')
      t.equal(await from('203.0.114.0'), '403 address-forbidden')
      t.equal(await from('203.0.113.0'), '200')
    })

    t.test('revoking a key ends its tokens, and those of no other', async (t) => {
      const SecretKey = await create('gone', {})
      const [its, others] = [await bearerOf(SecretKey), await bearerOf(created.secretKey)]
      t.equal(await answer(gateway, '/any', its), '200')
      await gateway.operate(({ secretKeys }) => secretKeys.revoke(id, 'gone', 0))
      await until('the key is refused', async () => (await answer(gateway, '/any', { SecretKey })) !== '200')
      await until(
        'its token is refused',
        async () => (await answer(gateway, '/any', its)) === '401 token-revoked',
      )
      t.equal(await answer(gateway, '/any', others), '200')
      t.equal(await answer(gateway, '/any', { SecretKey: created.secretKey }), '200')
    })

    t.test('a key that has expired is refused, and its tokens end with it', async (t) => {
      const SecretKey = await create('short', { expiresAt: Date.now() + 120_000 })
      const its = await bearerOf(SecretKey)
      const [, payload = ''] = its.Authorization.split('.')
      const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { readonly exp: number }
      t.ok(exp * 1_000 <= Date.now() + 120_000)
      t.equal(await answer(gateway, '/any', { SecretKey }), '200')
      ahead = 121_000
      t.equal(await answer(gateway, '/any', { SecretKey }), '401 secret-key-expired')
      t.match(await answer(gateway, '/any', its), /^401 token-/)
      t.equal(await answer(gateway, '/any', { SecretKey: created.secretKey }), '200')
    })
  })
}
