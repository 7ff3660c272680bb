import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { accessTokenPath, ask, askJson, refreshTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const sessionsMax = 100
const startsMax = 600

for (const driver of storeDrivers) {
  t.test(`limits of sessions on ${driver}`, async (t) => {
    const gateway = await startBoth(t, { driver })
    const callWith = (token: unknown) =>
      ask(t, gateway.url, 'GET /bearer', [`Authorization: Bearer ${token}`])

    t.test("an account's 101st session ends its first, access tokens included", async (t) => {
      const account = await gateway.createAccount()
      const first = await gateway.tokens(account)
      const second = await gateway.tokens(account)
      for (let made = 2; made < sessionsMax; made++) await gateway.tokens(account)
      t.equal((await callWith(first.JwtToken)).status, 200, 'with 100 all work')
      const last = await gateway.tokens(account)
      assertProblem(t, await callWith(first.JwtToken), { status: 401, code: 'token-revoked' })
      const token = first.RefreshToken
      const refused = await askJson(t, gateway.url, refreshTokenPath, { token })
      assertProblem(t, refused, { status: 401, code: 'session-revoked' })
      for (const { JwtToken } of [second, last]) t.equal((await callWith(JwtToken)).status, 200)
    })

    t.test('an account that starts too many sessions is limited, others are not', async (t) => {
      const account = await gateway.createAccount()
      const other = await gateway.createAccount()
      const body = { SecretKey: account.secretKey, APIKey: account.apiKey }
      let answer = await askJson(t, gateway.url, accessTokenPath, body)
      let started = 0
      // Ten a second come back meanwhile, however slow this machine is.
      for (; answer.status === 200 && started < 20 * startsMax; started++) {
        answer = await askJson(t, gateway.url, accessTokenPath, body)
      }
      t.ok(started >= startsMax, `${started} were started first`)
      assertProblem(t, answer, { status: 429, code: 'rate-limited' })
      t.match(answer.headers, { 'retry-after': /^[1-9]\d*$/, 'ratelimit-limit': '600' })
      t.match(await gateway.tokens(other), { JwtToken: String })
      t.equal((await ask(t, gateway.url, 'GET /any', [`SecretKey: ${account.secretKey}`])).status, 200)
    })
  })
}
