import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { ask, askJson, cookieOf, refreshTokenPath, revokeTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

for (const driver of storeDrivers) {
  t.test(`revoking tokens on ${driver}`, async (t) => {
    const { backend, gateway } = await startBoth(t, { driver })
    const account = await gateway.createAccount()
    const refresh = (token: unknown) => askJson(t, gateway.url, refreshTokenPath, { token })
    const revoke = (token: unknown) => askJson(t, gateway.url, revokeTokenPath, { token })
    const callWith = (token: unknown) =>
      ask(t, gateway.url, 'GET /bearer', [`Authorization: Bearer ${token}`])

    t.test('revoking ends the session and its access tokens at once, and clears the cookie', async (t) => {
      const { JwtToken, RefreshToken } = await gateway.tokens(account)
      t.equal((await callWith(JwtToken)).status, 200, 'known and cached')
      const seen = backend.seen.length
      const response = await revoke(RefreshToken)
      t.equal(response.status, 200)
      t.equal(response.body, '{}\n')
      t.match(response.headers['content-type'], /^application\/json/)
      t.equal(cookieOf(response), '')
      t.match(
        response.headers['set-cookie'],
        /Max-Age=0; Path=\/api\/v1\/accounts; .*HttpOnly; SameSite=Strict$/,
      )
      assertProblem(t, await callWith(JwtToken), { status: 401, code: 'token-revoked' })
      t.equal(backend.seen.length, seen, 'the backend is not asked')
      const refused = await ask(t, gateway.url, `POST ${refreshTokenPath}`, [
        `Cookie: refreshToken=${RefreshToken}`,
      ])
      assertProblem(t, refused, { status: 401, code: 'session-revoked' })
      t.equal(cookieOf(refused), '', 'the session is definitely over')
    })

    t.test('a session is revoked by its cookie alone', async (t) => {
      const { JwtToken, RefreshToken } = await gateway.tokens(account)
      const cookie = `Cookie: refreshToken=${RefreshToken}`
      const response = await ask(t, gateway.url, `POST ${revokeTokenPath}`, [cookie])
      t.equal(response.status, 200)
      t.equal(response.body, '{}\n')
      t.equal(cookieOf(response), '')
      assertProblem(t, await callWith(JwtToken), { status: 401, code: 'token-revoked' })
    })

    t.test('revoking an unknown or spent token is 200, and clears the cookie', async (t) => {
      const { RefreshToken } = await gateway.tokens(account)
      await revoke(RefreshToken)
      for (const token of ['unknown', RefreshToken, RefreshToken.slice(0, -1), 'x'.repeat(9_999)]) {
        const response = await revoke(token)
        t.equal(response.status, 200)
        t.equal(response.body, '{}\n')
        t.equal(cookieOf(response), '')
      }
      const none = await ask(t, gateway.url, `POST ${revokeTokenPath}`)
      assertProblem(t, none, { status: 400, code: 'request-invalid' })
    })

    t.test('any bad revocation clears the cookie, a cross-site one excepted', async (t) => {
      const { RefreshToken } = await gateway.tokens(account)
      const cookie = `Cookie: refreshToken=${RefreshToken}`
      const json = 'Content-Type: application/json'
      for (const [status, headers, body] of [
        [400, [], undefined],
        [400, [json], '{'],
        [400, [json, cookie], '[]'],
        [400, [json, cookie], '{"token":1}'],
        [400, [json, cookie], '{"token":""}'],
        [413, [json, cookie], 'x'.repeat(70_000)],
        [415, ['Content-Type: text/plain', cookie], '{}'],
        [415, [json, 'Content-Encoding: gzip', cookie], '{}'],
      ] as const) {
        const response = await ask(t, gateway.url, `POST ${revokeTokenPath}`, headers, body)
        t.equal(response.status, status)
        t.equal(cookieOf(response), '', `${status} ${headers.join()}`)
        const foreign = [...headers, 'Sec-Fetch-Site: cross-site']
        const fromAfar = await ask(t, gateway.url, `POST ${revokeTokenPath}`, foreign, body)
        t.equal(fromAfar.status, status)
        t.equal(cookieOf(fromAfar), undefined, 'which signs nobody out')
      }
      const wrongMethod = await ask(t, gateway.url, `GET ${revokeTokenPath}`, [cookie])
      t.equal(wrongMethod.status, 405)
      t.equal(cookieOf(wrongMethod), undefined, 'to look is not to revoke')
      t.equal((await refresh(RefreshToken)).status, 200, 'the session has not been touched')
    })

    t.test('a refresh token already replaced still revokes its session', async (t) => {
      const { RefreshToken } = await gateway.tokens(account)
      const { refreshToken, jwtToken } = (await refresh(RefreshToken)).json()
      await revoke(RefreshToken)
      assertProblem(t, await refresh(refreshToken), { status: 401, code: 'session-revoked' })
      assertProblem(t, await callWith(jwtToken), { status: 401, code: 'token-revoked' })
    })

    t.test('a refresh that races a revocation never leaves a live session', async (t) => {
      for (let round = 0; round < 60; round++) {
        const { JwtToken, RefreshToken } = await gateway.tokens(account)
        const refreshes = () => Promise.all([refresh(RefreshToken), refresh(RefreshToken)])
        const [before, revoked, after] = await Promise.all([refreshes(), revoke(RefreshToken), refreshes()])
        const answers = [...before, ...after]
        t.equal(revoked.status, 200)
        const given = answers.filter(({ status }) => status === 200).map((answer) => answer.json())
        const refused = answers.filter(({ status }) => status !== 200)
        for (const answer of refused) assertProblem(t, answer, { status: 401, code: 'session-revoked' })
        for (const token of [JwtToken, ...given.map(({ jwtToken }) => jwtToken)])
          t.equal((await callWith(token)).json().code, 'token-revoked')
        for (const token of [RefreshToken, ...given.map(({ refreshToken }) => refreshToken)])
          t.equal((await refresh(token)).json().code, 'session-revoked')
      }
    })
  })
}
