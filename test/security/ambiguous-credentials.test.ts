import t from 'tap'
import { accessTokenPath, ask, askJson } from '../gateway/support/ask.ts'
import { assertProblem } from '../gateway/support/problem.ts'
import { upgradeLines } from '../gateway/support/web-socket.ts'
import { startBoth } from '../setup/both.ts'
import { storeDrivers } from '../setup/gateway.ts'

const ambiguous = { status: 400, code: 'credentials-ambiguous' }

for (const driver of storeDrivers) {
  t.test(`ambiguous credentials on ${driver}`, async (t) => {
    const route = { upstream: 'backend', websocket: true }
    const routes = ['any', 'optional', 'secretKey', 'bearer', 'none'].map((auth) => ({
      ...route,
      name: auth,
      path: `/${auth}`,
      auth,
    }))
    const { backend, gateway } = await startBoth(t, { driver, config: { routes } })
    const ada = await gateway.createAccount()
    const bob = await gateway.createAccount({ role: 'Admin' })
    const [adaKey, bobKey] = [`SecretKey: ${ada.secretKey}`, `SecretKey: ${bob.secretKey}`]
    const adaToken = `Authorization: Bearer ${(await gateway.tokens(ada)).JwtToken}`
    const bobToken = `Authorization: Bearer ${(await gateway.tokens(bob)).JwtToken}`

    t.test('more than one credential is refused, however written and of whichever account', async (t) => {
      for (const headers of [
        [adaKey, bobKey],
        [adaKey, adaKey],
        [adaKey, adaKey.replace('SecretKey', 'secretkey')],
        [adaKey, 'SecretKey:'],
        ['SECRETKEY: x', bobKey],
        [adaToken, bobToken],
        [adaToken, adaToken],
        [adaToken, 'Authorization: Basic dTpw'],
        ['authorization: Basic dTpw', adaToken],
        [adaToken, 'Authorization:'],
        [adaKey, bobToken],
        [bobToken, adaKey],
        [adaKey, adaToken],
        ['SecretKey: x', 'Authorization: Bearer x'],
        ['SecretKey:', adaToken],
        [adaKey, 'Authorization: Basic dTpw', 'Authorization: Basic dTpw'],
        ['Authorization: Basic dTpw', 'Authorization: x y'],
      ]) {
        for (const path of ['/any', '/optional', '/secretKey', '/bearer']) {
          for (const extra of [[], upgradeLines])
            assertProblem(t, await ask(t, gateway.url, `GET ${path}`, [...headers, ...extra]), ambiguous)
        }
      }
      t.equal(backend.seen.length, 0)
    })

    t.test('two credentials in one header line are refused', async (t) => {
      const [key, token] = [ada.secretKey, adaToken.slice('Authorization: Bearer '.length)]
      for (const [header, code] of [
        [`SecretKey: ${key}, ${bob.secretKey}`, 'secret-key-invalid'],
        [`SecretKey: ${key},${key}`, 'secret-key-invalid'],
        [`SecretKey: ${key} ${key}`, 'secret-key-invalid'],
        [`SecretKey: Bearer ${token}`, 'secret-key-invalid'],
        [`SecretKey: "${key}"`, 'secret-key-invalid'],
        [`Authorization: Bearer ${token}, Bearer ${token}`, 'token-invalid'],
        [`Authorization: Bearer ${token} ${token}`, 'token-invalid'],
        [`Authorization: Bearer ${key}`, 'token-invalid'],
        [`Authorization: Basic dTpw, Bearer ${token}`, 'scheme-not-accepted'],
        [`Authorization: ${token}`, 'scheme-not-accepted'],
        [`Authorization: SecretKey ${key}`, 'scheme-not-accepted'],
        [`Authorization: Bearer\t${token}`, undefined],
      ] as const) {
        const response = await ask(t, gateway.url, 'GET /any', [header])
        t.equal(response.status, 401, header.slice(0, 30))
        if (code !== undefined) t.equal(response.json().code, code, header.slice(0, 30))
      }
      t.equal(backend.seen.length, 0)
    })

    t.test('a credential outside its headers is ignored', async (t) => {
      const token = adaToken.slice('Authorization: Bearer '.length)
      for (const [line, headers, body] of [
        [`GET /any?SecretKey=${ada.secretKey}&access_token=${token}`, [], undefined],
        ['GET /any', [`Cookie: SecretKey=${ada.secretKey}; Authorization=${token}`], undefined],
        ['GET /any', [`Secret-Key: ${ada.secretKey}`, `X-SecretKey: ${ada.secretKey}`], undefined],
        ['GET /any', [`Secret_Key: ${ada.secretKey}`, `Proxy-Authorization: Bearer ${token}`], undefined],
        ['GET /any', [`X-Authorization: Bearer ${token}`], undefined],
        ['POST /any', ['Content-Type: application/x-www-form-urlencoded'], `access_token=${token}`],
        ['POST /any', ['Transfer-Encoding: chunked', '', '0', adaKey], undefined],
      ] as const) {
        const response = await ask(t, gateway.url, line, [...headers], body)
        assertProblem(t, response, { status: 401, code: 'credentials-missing' })
      }
      t.equal(backend.seen.length, 0)
    })

    t.test('a request target with userinfo is refused', async (t) => {
      const response = await ask(t, gateway.url, `GET http://${ada.secretKey}:@gateway.test/any`)
      assertProblem(t, response, { status: 400, code: 'path-ambiguous' })
      t.equal(backend.seen.length, 0)
    })

    t.test('a public route ignores credentials', async (t) => {
      for (const headers of [
        [adaKey, bobKey],
        [adaKey, bobToken],
        ['Authorization: x', 'Authorization: y'],
      ])
        t.equal((await ask(t, gateway.url, 'GET /none', headers)).status, 200)
      t.notOk('x-user-id' in backend.last().headers)
    })

    t.test('keys of two accounts get no tokens, in either order', async (t) => {
      for (const pair of [
        { SecretKey: ada.secretKey, APIKey: bob.apiKey },
        { SecretKey: bob.secretKey, APIKey: ada.apiKey },
      ])
        assertProblem(t, await askJson(t, gateway.url, accessTokenPath, pair), {
          status: 401,
          code: 'credentials-invalid',
        })
    })
  })
}
