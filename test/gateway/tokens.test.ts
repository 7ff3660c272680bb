import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { accessTokenPath, ask, askJson, cookieOf } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const members = ['Id', 'FirstName', 'LastName', 'Email', 'Role', 'IsVerified', 'JwtToken', 'RefreshToken']

for (const driver of storeDrivers) {
  t.test(`getting tokens on ${driver}`, async (t) => {
    const { backend, gateway } = await startBoth(t, { driver })
    const account = await gateway.createAccount({
      email: 'Ada@Example.com',
      firstName: 'Åda',
      lastName: '',
      role: 'Admin',
      isVerified: false,
    })
    const pair = { SecretKey: account.secretKey, APIKey: account.apiKey }

    t.test('a key pair is answered with exactly the account and both tokens', async (t) => {
      const response = await askJson(t, gateway.url, accessTokenPath, pair)
      t.equal(response.status, 200)
      t.match(response.headers['content-type'], /^application\/json/)
      t.equal(response.headers['cache-control'], 'no-store')
      const body: Record<string, unknown> = JSON.parse(Buffer.from(response.body, 'latin1').toString())
      t.strictSame(Object.keys(body), members)
      const { JwtToken, RefreshToken, ...record } = body
      t.strictSame(record, {
        Id: account.account.id,
        FirstName: 'Åda',
        LastName: '',
        Email: 'Ada@Example.com',
        Role: 'Admin',
        IsVerified: false,
      })
      t.match(JwtToken, /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/)
      t.equal(cookieOf(response), RefreshToken, 'the cookie holds the same refresh token')
      const answer = await ask(t, gateway.url, 'GET /bearer/x', [`Authorization: Bearer ${JwtToken}`])
      t.equal(answer.status, 200)
      t.match(backend.last().headers, { 'x-user-id': account.account.id, 'x-user-role': 'Admin' })
    })

    t.test('the refresh token is set in a cookie hidden from scripts and other paths', async (t) => {
      const { headers } = await askJson(t, gateway.url, accessTokenPath, pair)
      const [value, ...attributes] = String(headers['set-cookie']).split('; ')
      t.match(value, /^refreshToken=[\w.~-]+$/)
      t.strictSame(attributes.toSorted(), [
        'HttpOnly',
        'Max-Age=604800',
        'Path=/api/v1/accounts',
        'SameSite=Strict',
      ])
    })

    t.test('an access token names subject, issuer, audience, time of issue and expiry', async (t) => {
      const { JwtToken, Id } = await gateway.tokens(account)
      const [header, claims] = JwtToken.split('.', 2).map((part) =>
        JSON.parse(Buffer.from(part, 'base64url').toString()),
      )
      t.strictSame(Object.keys(header).toSorted(), ['alg', 'kid', 'typ'])
      t.match(header, { alg: 'ES256', typ: 'at+jwt', kid: /^.+$/ })
      const names = ['aud', 'exp', 'iat', 'iss', 'jti', 'role', 'sid', 'sub']
      t.strictSame(Object.keys(claims).toSorted(), names)
      t.match(claims, { iss: 'http://localhost:8080', aud: 'gatehouse', sub: Id, role: 'Admin' })
      t.equal(claims.exp - claims.iat, 600)
      const another = await gateway.tokens(account)
      t.not(another.RefreshToken, JwtToken)
      t.not(another.JwtToken, JwtToken, 'no two are the same')
    })

    t.test('a key that is missing or of the wrong type is named in the error', async (t) => {
      for (const [body, fields] of [
        [{}, ['APIKey', 'SecretKey']],
        [{ SecretKey: account.secretKey }, ['APIKey']],
        [{ secretKey: account.secretKey, apiKey: account.apiKey }, ['APIKey', 'SecretKey']],
        [{ ...pair, APIKey: 7 }, ['APIKey']],
        [{ ...pair, SecretKey: null }, ['SecretKey']],
        [{ ...pair, SecretKey: [account.secretKey] }, ['SecretKey']],
      ] as const) {
        const response = await askJson(t, gateway.url, accessTokenPath, body)
        assertProblem(t, response, { status: 400, code: 'request-invalid' })
        const errors = response.json().errors as { readonly field: string; readonly message: string }[]
        t.strictSame(errors.map(({ field }) => field).toSorted(), fields)
        for (const { message } of errors) t.match(message, /\w/)
        t.equal(cookieOf(response), undefined)
      }
    })

    t.test('a token request must be JSON in UTF-8', async (t) => {
      const text = JSON.stringify(pair)
      const send = (type: string[]) => ask(t, gateway.url, `POST ${accessTokenPath}`, type, text)
      for (const type of [
        'application/json',
        'application/json; charset=utf-8',
        'APPLICATION/JSON;charset=UTF-8',
      ])
        t.equal((await send([`Content-Type: ${type}`])).status, 200, type)
      for (const type of [
        [],
        ['Content-Type: text/plain'],
        ['Content-Type: application/x-www-form-urlencoded'],
        ['Content-Type: application/jsonp'],
        ['Content-Type: application/json; charset=latin1'],
        ['Content-Type: ;;'],
        ['Content-Type: application/json', 'Content-Encoding: gzip'],
      ])
        assertProblem(t, await send(type), { status: 415, code: 'media-type-unsupported' })
    })
  })
}
