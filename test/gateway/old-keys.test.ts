import t from 'tap'
import { createAccountId, digestOf } from '#platform/secrets/keys.ts'
import { startBoth } from '../setup/both.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { createOldKey } from '../setup/old-keys.ts'
import { newAccount, newSecretKey } from '../store/samples.ts'

for (const driver of storeDrivers) {
  t.test(`keys from before keys.prefix work as ever until they are replaced, on ${driver}`, async (t) => {
    const { backend, gateway } = await startBoth(t, { driver })
    const id = createAccountId()
    const [secretKey, apiKey] = [createOldKey('secretKey', id), createOldKey('apiKey', id)]
    const stored = newSecretKey({ id: '', digest: digestOf(secretKey), sealed: undefined })
    const account = newAccount({
      id,
      secretKeys: [stored],
      apiKey: { digest: digestOf(apiKey), sealed: undefined, createdAt: 1 },
    })
    await gateway.operate(({ store }) => store.createAccounts([account]))
    const statusOf = async (headers: Record<string, string>) =>
      (await fetch(`${gateway.url}/any`, { headers })).status
    t.match(secretKey, /^gsk_/)
    t.equal(await statusOf({ SecretKey: secretKey }), 200)
    t.equal(backend.last().headers['x-user-id'], id)
    const { JwtToken } = await gateway.tokens({ account, secretKey, apiKey })
    t.equal(await statusOf({ Authorization: `Bearer ${JwtToken}` }), 200)

    const next = await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(id, 3_600))
    t.match(next, /^gate_sk_/)
    for (const key of [next, secretKey])
      t.equal(await statusOf({ SecretKey: key }), 200, 'within the overlap')
    t.equal((await gateway.post('/api/v1/keys/revoke', { key: secretKey })).status, 200)
    await until(
      'the old key has ended',
      async () => (await statusOf({ SecretKey: secretKey })) === 401 || undefined,
    )
    t.equal(await statusOf({ SecretKey: next }), 200)
    t.ok((await gateway.tokens({ account, secretKey: next, apiKey })).JwtToken, 'with the old API key')
  })
}
