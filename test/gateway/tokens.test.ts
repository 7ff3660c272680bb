import t from 'tap'
import { startBackend } from '../setup/backend.ts'
import { drivers, startGateway } from '../setup/gateway.ts'

for (const driver of drivers) {
  t.test(`on ${driver}`, async (t) => {
    const backend = await startBackend(t)
    const gateway = await startGateway(t, { backend: backend.url, driver })

    t.test('both keys of an account give its record, both tokens and the cookie', async (t) => {
      const account = await gateway.createAccount({ email: 'Ada@Example.com', role: 'Admin' })
      const response = await gateway.post('/api/v1/accounts/access-token', {
        SecretKey: account.secretKey,
        APIKey: account.apiKey,
      })
      t.equal(response.status, 200)
      t.equal(response.headers.get('cache-control'), 'no-store')
      const body = (await response.json()) as Record<string, unknown>
      t.strictSame(Object.keys(body), [
        'Id',
        'FirstName',
        'LastName',
        'Email',
        'Role',
        'IsVerified',
        'JwtToken',
        'RefreshToken',
      ])
      t.match(body, { Id: account.account.id, Email: 'Ada@Example.com', Role: 'Admin', IsVerified: true })
      const cookie = response.headers.get('set-cookie') ?? ''
      t.match(
        cookie,
        /^refreshToken=grt_[^;]+; Max-Age=604800; Path=\/api\/v1\/accounts; HttpOnly; SameSite=Strict$/,
      )
      const hello = await fetch(`${gateway.url}/bearer/x`, {
        headers: { Authorization: `Bearer ${body['JwtToken']}` },
      })
      t.equal(hello.status, 200)
      t.match(backend.last().headers, { 'x-user-id': account.account.id, 'x-user-role': 'Admin' })
    })

    t.test('many refreshes of one token at once all give one and the same next token', async (t) => {
      for (const count of [2, 8, 64]) {
        const { RefreshToken } = await gateway.tokens(await gateway.createAccount())
        const responses = await Promise.all(
          Array.from({ length: count }, () =>
            gateway.post('/api/v1/accounts/refresh-token', { token: RefreshToken }),
          ),
        )
        t.strictSame([...new Set(responses.map(({ status }) => status))], [200])
        const bodies = (await Promise.all(responses.map((response) => response.json()))) as {
          refreshToken: string
        }[]
        t.equal(new Set(bodies.map(({ refreshToken }) => refreshToken)).size, 1)
      }
    })
  })
}
