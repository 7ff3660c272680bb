import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { addKey } from './support/further-keys.ts'

const grace = 3_600

for (const driver of storeDrivers) {
  t.test(
    `a key revoked with overlap works until that ends, and so do its sessions, on ${driver}`,
    async (t) => {
      const time = { aheadMs: 0 }
      const gateway = await startBoth(t, {
        driver,
        clock: () => Date.now() + time.aheadMs,
        config: { tokens: { accessLifetime: '24h' } },
      })
      const made = await gateway.createAccount()
      const { id } = made.account
      const secretKey = await addKey(gateway, id, { name: 'ci' })
      const before = await gateway.tokens({ ...made, secretKey })
      const other = await gateway.tokens(made)
      const wordOf = async (headers: Record<string, string>) => {
        const response = await fetch(`${gateway.url}/any`, { headers })
        if (response.status === 200) return '200'
        return `${response.status} ${((await response.json()) as { readonly code: string }).code}`
      }
      const byToken = (token: string) => wordOf({ Authorization: `Bearer ${token}` })
      const refresh = async (token: string) => {
        const response = await gateway.post('/api/v1/accounts/refresh-token', { token })
        return { status: response.status, body: (await response.json()) as Record<string, string> }
      }

      await gateway.operate(({ secretKeys }) => secretKeys.revoke(id, 'ci', grace))
      t.equal(await wordOf({ SecretKey: secretKey }), '200')
      t.equal(await byToken(before.JwtToken), '200')
      const refreshed = await refresh(before.RefreshToken)
      t.equal(refreshed.status, 200, 'its session goes on')
      const { jwtToken = '', refreshToken = '' } = refreshed.body
      t.equal(await byToken(jwtToken), '200')
      const during = await gateway.tokens({ ...made, secretKey })
      t.equal(await byToken(during.JwtToken), '200', 'it still gets tokens')
      const { exp } = JSON.parse(Buffer.from(jwtToken.split('.')[1] ?? '', 'base64url').toString()) as {
        readonly exp: number
      }
      t.ok(exp <= Math.ceil(Date.now() / 1_000) + grace, 'which end with the overlap')

      time.aheadMs = grace * 1_000 + 10_000
      t.equal(await wordOf({ SecretKey: secretKey }), '401 secret-key-invalid')
      for (const token of [before.JwtToken, jwtToken, during.JwtToken])
        t.match(await byToken(token), /^401 token-(?:revoked|expired)$/)
      t.match(await refresh(refreshToken), { status: 401, body: { code: /session-revoked|refresh-token-/ } })
      const pair = { SecretKey: secretKey, APIKey: made.apiKey }
      t.equal((await gateway.post('/api/v1/accounts/access-token', pair)).status, 401)
      t.equal(await byToken(other.JwtToken), '200', 'those of another key go on')
      t.equal((await refresh(other.RefreshToken)).status, 200)
    },
  )

  t.test(`a key revoked at once ends its tokens and sessions alone, on ${driver}`, async (t) => {
    const gateway = await startBoth(t, { driver })
    const made = await gateway.createAccount()
    const { id } = made.account
    const secretKey = await addKey(gateway, id, { name: 'ci' })
    const [ended, other] = [await gateway.tokens({ ...made, secretKey }), await gateway.tokens(made)]
    const statusOf = async (token: string) =>
      (await fetch(`${gateway.url}/any`, { headers: { Authorization: `Bearer ${token}` } })).status
    t.strictSame([await statusOf(ended.JwtToken), await statusOf(other.JwtToken)], [200, 200])
    await gateway.operate(({ secretKeys }) => secretKeys.revoke(id, 'ci', 0))
    await until('its token ends', async () => (await statusOf(ended.JwtToken)) === 401 || undefined)
    const refreshed = await gateway.post('/api/v1/accounts/refresh-token', { token: ended.RefreshToken })
    t.match(await refreshed.json(), { code: 'session-revoked' })
    t.equal(await statusOf(other.JwtToken), 200)
    const listed = await gateway.operate(({ sessions }) => sessions.list(id))
    t.equal(listed.length, 1, 'and it is not listed any more')
  })
}
