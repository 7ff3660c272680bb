import t from 'tap'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import { ask, askJson, cookieOf, refreshTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const dayMs = 24 * 3_600_000

for (const driver of storeDrivers) {
  t.test(`lifetime of refresh tokens on ${driver}`, async (t) => {
    let aheadMs = 0
    const gateway = await startGateway(t, {
      driver,
      clock: () => Date.now() + aheadMs,
      config: { tokens: { accessLifetime: '24h', reuseGrace: '10s' } },
    })
    const account = await gateway.createAccount()
    const refresh = (token: unknown) => askJson(t, gateway.url, refreshTokenPath, { token })
    const refreshByCookie = (token: string) =>
      ask(t, gateway.url, `POST ${refreshTokenPath}`, [`Cookie: refreshToken=${token}`])
    const callWith = (token: unknown) =>
      ask(t, gateway.url, 'GET /bearer', [`Authorization: Bearer ${token}`])

    t.test('within the grace a replaced refresh token yields the same current one each time', async (t) => {
      const first = await gateway.tokens(account)
      const { refreshToken } = (await refresh(first.RefreshToken)).json()
      for (const afterMs of [0, 3_000, 6_500]) {
        aheadMs += afterMs
        const again = await refresh(first.RefreshToken)
        t.equal(again.status, 200)
        t.equal(again.json().refreshToken, refreshToken)
        t.equal(cookieOf(again), refreshToken)
      }
      t.equal((await refresh(refreshToken)).status, 200, 'and the current one rotates as ever')
    })

    t.test('after the grace a replaced refresh token revokes its session and access tokens', async (t) => {
      const first = await gateway.tokens(account)
      const { refreshToken, jwtToken } = (await refresh(first.RefreshToken)).json()
      aheadMs += 10_001
      const reused = await refreshByCookie(first.RefreshToken)
      assertProblem(t, reused, { status: 401, code: 'refresh-token-reused' })
      t.equal(cookieOf(reused), '', 'the cookie is cleared')
      t.match(reused.headers['set-cookie'], /Max-Age=0; Path=\/api\/v1\/accounts/)
      for (const token of [first.JwtToken, jwtToken])
        assertProblem(t, await callWith(token), { status: 401, code: 'token-revoked' })
      for (const token of [refreshToken, first.RefreshToken])
        assertProblem(t, await refresh(token), { status: 401, code: 'session-revoked' })
    })

    t.test('a refresh token two generations old revokes its session, grace or not', async (t) => {
      const first = await gateway.tokens(account)
      const second = (await refresh(first.RefreshToken)).json()
      const third = (await refresh(second.refreshToken)).json()
      assertProblem(t, await refresh(first.RefreshToken), { status: 401, code: 'refresh-token-reused' })
      assertProblem(t, await refresh(third.refreshToken), { status: 401, code: 'session-revoked' })
      assertProblem(t, await callWith(third.jwtToken), { status: 401, code: 'token-revoked' })
    })

    t.test("a reused refresh token leaves the account's other sessions alone", async (t) => {
      const other = await gateway.tokens(account)
      const first = await gateway.tokens(account)
      await refresh(first.RefreshToken)
      aheadMs += 10_001
      assertProblem(t, await refresh(first.RefreshToken), { status: 401, code: 'refresh-token-reused' })
      t.not((await callWith(other.JwtToken)).status, 401)
      t.equal((await refresh(other.RefreshToken)).status, 200)
    })

    t.test('a session that is not refreshed ends after refreshIdle', async (t) => {
      const { RefreshToken } = await gateway.tokens(account)
      aheadMs += 7 * dayMs - 60_000
      const { refreshToken } = (await refresh(RefreshToken)).json()
      t.type(refreshToken, 'string', 'just in time')
      aheadMs += 7 * dayMs + 1
      const late = await refreshByCookie(String(refreshToken))
      assertProblem(t, late, { status: 401, code: 'refresh-token-expired' })
      t.equal(cookieOf(late), '')
    })

    t.test('a session ends after refreshLifetime, however often it is refreshed', async (t) => {
      let { RefreshToken } = await gateway.tokens(account)
      const ages: string[] = []
      for (let days = 5; days < 30; days += 5) {
        aheadMs += 5 * dayMs
        const response = await refresh(RefreshToken)
        RefreshToken = String(response.json().refreshToken)
        ages.push(response.headers['set-cookie']?.match(/Max-Age=(\d+)/)?.[1] ?? '')
      }
      t.strictSame(ages.slice(0, 4), Array(4).fill('604800'))
      t.ok(Math.abs(Number(ages[4]) - 5 * 86_400) < 60, 'the last cookie ends with the session')
      aheadMs += 5 * dayMs
      assertProblem(t, await refreshByCookie(RefreshToken), { status: 401, code: 'refresh-token-expired' })
    })

    t.test('an access token ends at exp plus the clock tolerance', async (t) => {
      const { JwtToken } = await gateway.tokens(account)
      aheadMs += dayMs + 3_000
      t.not((await callWith(JwtToken)).status, 401, 'clocks may differ by 5 s')
      aheadMs += 2_001
      assertProblem(t, await callWith(JwtToken), { status: 401, code: 'token-expired' })
    })
  })
}

t.test('with reuseGrace 0s a replaced refresh token revokes its session at once', async (t) => {
  const gateway = await startGateway(t, { config: { tokens: { reuseGrace: '0s' } } })
  const first = await gateway.tokens(await gateway.createAccount())
  const refresh = (token: unknown) => askJson(t, gateway.url, refreshTokenPath, { token })
  const { refreshToken } = (await refresh(first.RefreshToken)).json()
  assertProblem(t, await refresh(first.RefreshToken), { status: 401, code: 'refresh-token-reused' })
  assertProblem(t, await refresh(refreshToken), { status: 401, code: 'session-revoked' })
})
