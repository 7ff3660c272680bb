import t from 'tap'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import { ask, askJson, cookieOf, refreshTokenPath, revokeTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const own = 'https://api.example.com'

const foreign = [
  ['Sec-Fetch-Site: cross-site'],
  ['Sec-Fetch-Site: cross-site', `Origin: ${own}`],
  ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate'],
  ['Origin: https://evil.example'],
  ['Origin: null'],
  ['Origin: http://api.example.com'],
  ['Origin: https://api.example.com:8443'],
  ['Origin: https://api.example.com.evil.example'],
  ['Origin: https://evil.example', `Referer: ${own}/`],
]

const ours = [
  [],
  ['Sec-Fetch-Site: same-origin'],
  ['Sec-Fetch-Site: same-site'],
  ['Sec-Fetch-Site: none'],
  [`Origin: ${own}`],
  ['Sec-Fetch-Site: same-origin', `Origin: ${own}`],
  ['Referer: https://evil.example/'],
]

for (const driver of storeDrivers) {
  t.test(`cross-site requests on ${driver}`, async (t) => {
    const gateway = await startGateway(t, { driver, config: { publicUrl: own } })
    const account = await gateway.createAccount()

    for (const path of [refreshTokenPath, revokeTokenPath]) {
      t.test(`the refresh cookie is refused from a foreign site: ${path}`, async (t) => {
        const { RefreshToken } = await gateway.tokens(account)
        const cookie = `Cookie: refreshToken=${RefreshToken}`
        for (const headers of foreign) {
          for (const body of [undefined, '{}'] as const) {
            const type = body === undefined ? [] : ['Content-Type: application/json']
            const response = await ask(t, gateway.url, `POST ${path}`, [...headers, ...type, cookie], body)
            assertProblem(t, response, { status: 403, code: 'cross-site-refresh' })
            t.equal(cookieOf(response), undefined, 'and left alone')
          }
        }
        const response = await ask(t, gateway.url, `POST ${refreshTokenPath}`, [cookie])
        t.equal(response.status, 200, 'nothing has happened to the session')
      })

      t.test(`the refresh cookie is taken from the own site: ${path}`, async (t) => {
        for (const headers of ours) {
          const { RefreshToken } = await gateway.tokens(account)
          const all = [...headers, `Cookie: refreshToken=${RefreshToken}`]
          t.equal((await ask(t, gateway.url, `POST ${path}`, all)).status, 200, headers.join())
        }
      })

      t.test(`a refresh token in the body is taken from any site: ${path}`, async (t) => {
        for (const headers of [...foreign, ...ours]) {
          const { RefreshToken } = await gateway.tokens(account)
          const withCookie = [...headers, 'Cookie: refreshToken=grt_other']
          const response = await askJson(t, gateway.url, path, { token: RefreshToken }, withCookie)
          t.equal(response.status, 200, headers.join())
        }
      })
    }
  })
}
