import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { ask, askJson, cookieOf, refreshTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

for (const driver of storeDrivers) {
  t.test(`refreshing tokens on ${driver}`, async (t) => {
    const { backend, gateway } = await startBoth(t, { driver })
    const account = await gateway.createAccount()
    const refresh = (body: unknown, headers: readonly string[] = []) =>
      askJson(t, gateway.url, refreshTokenPath, body, headers)

    t.test('a refresh is answered with exactly the next two tokens and the new cookie', async (t) => {
      const first = await gateway.tokens(account)
      const response = await refresh({ token: first.RefreshToken })
      t.equal(response.status, 200)
      t.match(response.headers['content-type'], /^application\/json/)
      t.equal(response.headers['cache-control'], 'no-store')
      const body = response.json()
      t.strictSame(Object.keys(body), ['jwtToken', 'refreshToken'])
      t.not(body.refreshToken, first.RefreshToken, 'it rotates')
      t.equal(cookieOf(response), body.refreshToken)
      t.match(
        response.headers['set-cookie'],
        /; Max-Age=604800; Path=\/api\/v1\/accounts; HttpOnly; SameSite=Strict$/,
      )
      for (const token of [first.JwtToken, body.jwtToken]) {
        const answer = await ask(t, gateway.url, 'GET /bearer', [`Authorization: Bearer ${token}`])
        t.equal(answer.status, 200, 'the old access token lives until it expires, too')
      }
      t.equal(backend.last().headers['x-user-id'], account.account.id)
    })

    t.test('a session can be refreshed many times in a row', async (t) => {
      let { RefreshToken } = await gateway.tokens(account)
      const seen = new Set<unknown>([RefreshToken])
      for (let turn = 0; turn < 20; turn++) {
        const { refreshToken } = (await refresh({ token: RefreshToken })).json()
        seen.add(refreshToken)
        RefreshToken = String(refreshToken)
      }
      t.equal(seen.size, 21)
    })

    t.test('the cookie alone refreshes: with no body, an empty one, or one without a token', async (t) => {
      const json = 'Content-Type: application/json'
      for (const { headers, body } of [
        { headers: [], body: undefined },
        { headers: [], body: '' },
        { headers: [json], body: '' },
        { headers: [json], body: undefined },
        { headers: ['Content-Type: text/plain'], body: '' },
        { headers: [json], body: '{}' },
        { headers: [json], body: ' {} ' },
        { headers: [json], body: '{"other":1}' },
        { headers: [json, 'Transfer-Encoding: chunked'], body: undefined },
      ]) {
        const { RefreshToken } = await gateway.tokens(account)
        const cookie = `Cookie: a=b; refreshToken=${RefreshToken}; c="d"`
        const isChunked = headers.some((header) => header.startsWith('Transfer-Encoding'))
        const response = isChunked
          ? await ask(t, gateway.url, `POST ${refreshTokenPath}`, [...headers, cookie, '', '0'])
          : await ask(t, gateway.url, `POST ${refreshTokenPath}`, [...headers, cookie], body)
        t.equal(response.status, 200, JSON.stringify({ headers, body }))
        t.equal(cookieOf(response), response.json().refreshToken)
      }
    })

    t.test('a refresh token in the body wins over the cookie', async (t) => {
      const inBody = await gateway.tokens(account)
      const inCookie = await gateway.tokens(await gateway.createAccount())
      const cookie = `Cookie: refreshToken=${inCookie.RefreshToken}`
      const { jwtToken } = (await refresh({ token: inBody.RefreshToken }, [cookie])).json()
      await ask(t, gateway.url, 'GET /bearer', [`Authorization: Bearer ${jwtToken}`])
      t.equal(backend.last().headers['x-user-id'], account.account.id)
      const wrong = await refresh({ token: 'wrong' }, [cookie])
      assertProblem(t, wrong, { status: 401, code: 'refresh-token-invalid' })
      t.equal(cookieOf(wrong), undefined, 'a cookie that was not looked at is left alone')
      const still = await ask(t, gateway.url, `POST ${refreshTokenPath}`, [cookie])
      t.equal(still.status, 200, 'nor is its session touched')
    })

    t.test('a refresh with neither body nor cookie is 400', async (t) => {
      for (const headers of [
        [],
        ['Cookie: other=1'],
        ['Cookie: refreshToken='],
        ['Cookie: refreshtoken=grt_x'],
      ]) {
        const response = await ask(t, gateway.url, `POST ${refreshTokenPath}`, headers)
        assertProblem(t, response, { status: 400, code: 'request-invalid' })
        t.match(response.json().errors, [{ field: 'token' }])
      }
      for (const body of [{ token: 1 }, { token: null }, { token: ['x'] }, { token: {} }])
        assertProblem(t, await refresh(body), { status: 400, code: 'request-invalid' })
    })

    t.test('a foreign refresh token is 401 and changes nothing', async (t) => {
      const { RefreshToken, JwtToken } = await gateway.tokens(account)
      const [, sessionId = '', generation, mac = ''] = /^grt_(\w{20})_(\d+)_(.+)$/.exec(RefreshToken) ?? []
      const ahead = `grt_${sessionId}_${Number(generation) + 1}_${mac}`
      const flipped = RefreshToken.slice(0, -1) + (RefreshToken.endsWith('A') ? 'B' : 'A')
      for (const token of ['x', ahead, flipped, `${RefreshToken} `, RefreshToken.toUpperCase(), JwtToken]) {
        const response = await refresh({ token })
        assertProblem(t, response, { status: 401, code: 'refresh-token-invalid' })
        t.equal(cookieOf(response), undefined)
      }
      t.equal((await refresh({ token: RefreshToken })).status, 200)
    })

    t.test('simultaneous refreshes of one token all give the same next token', async (t) => {
      for (const count of [2, 8, 64]) {
        const { RefreshToken } = await gateway.tokens(account)
        const responses = await Promise.all(
          Array.from({ length: count }, () => refresh({ token: RefreshToken })),
        )
        t.strictSame([...new Set(responses.map(({ status }) => status))], [200])
        const bodies = responses.map((response) => response.json())
        const [next, ...others] = new Set(bodies.map(({ refreshToken }) => refreshToken))
        t.equal(others.length, 0)
        t.equal((await refresh({ token: next })).status, 200, 'which goes on')
        for (const { jwtToken } of bodies.slice(0, 3)) {
          const answer = await ask(t, gateway.url, 'GET /bearer', [`Authorization: Bearer ${jwtToken}`])
          t.equal(answer.status, 200)
        }
      }
    })
  })
}
