import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { ask } from './support/ask.ts'
import { codeOf } from './support/problem.ts'

/** What comes of each credential on each kind of route: the identity the backend receives, or the code. */
const outcomes = {
  public: {
    nothing: 'nobody',
    key: 'nobody',
    token: 'nobody',
    wrongKey: 'nobody',
    wrongToken: 'nobody',
    basic: 'nobody',
    both: 'nobody',
    twice: 'nobody',
  },
  optional: {
    nothing: 'nobody',
    key: 'user',
    token: 'user',
    wrongKey: 'secret-key-invalid',
    wrongToken: 'token-invalid',
    // Not a credential of ours: it is between the client and the backend.
    basic: 'nobody',
    both: 'credentials-ambiguous',
    twice: 'credentials-ambiguous',
  },
  key: {
    nothing: 'credentials-missing',
    key: 'user',
    token: 'scheme-not-accepted',
    wrongKey: 'secret-key-invalid',
    wrongToken: 'scheme-not-accepted',
    basic: 'scheme-not-accepted',
    both: 'credentials-ambiguous',
    twice: 'credentials-ambiguous',
  },
  bearer: {
    nothing: 'credentials-missing',
    key: 'scheme-not-accepted',
    token: 'user',
    wrongKey: 'scheme-not-accepted',
    wrongToken: 'token-invalid',
    basic: 'scheme-not-accepted',
    both: 'credentials-ambiguous',
    twice: 'credentials-ambiguous',
  },
  any: {
    nothing: 'credentials-missing',
    key: 'user',
    token: 'user',
    wrongKey: 'secret-key-invalid',
    wrongToken: 'token-invalid',
    basic: 'scheme-not-accepted',
    both: 'credentials-ambiguous',
    twice: 'credentials-ambiguous',
  },
} as const

for (const driver of storeDrivers) {
  t.test(`access of a route on ${driver}`, async (t) => {
    const { backend, gateway } = await startBoth(t, { driver })
    const user = await gateway.createAccount({ isVerified: false })
    const { JwtToken } = await gateway.tokens(user)
    const key = `SecretKey: ${user.secretKey}`
    const token = `Authorization: Bearer ${JwtToken}`
    const credentials: Record<string, readonly string[]> = {
      nothing: [],
      key: [key],
      token: [token],
      wrongKey: ['SecretKey: wrong'],
      wrongToken: ['Authorization: Bearer wrong'],
      basic: ['Authorization: Basic dTpw'],
      both: [key, token],
      twice: [key, key],
    }

    /** The identity that the backend received, or the code that the client received. */
    async function outcomeOf(path: string, headers: readonly string[]): Promise<unknown> {
      const seen = backend.seen.length
      const response = await ask(t, gateway.url, `GET ${path}`, headers)
      if (response.status !== 200) {
        t.equal(backend.seen.length, seen, 'a refused request does not reach the backend')
        return codeOf(response)
      }
      const { 'x-user-id': id, 'x-user-role': role } = backend.last().headers
      t.equal(role, id && 'User')
      return id === undefined ? 'nobody' : id === user.account.id ? 'user' : id
    }

    for (const [route, expected] of Object.entries(outcomes)) {
      t.test(`the credentials that a route with auth: ${route} takes`, async (t) => {
        for (const [name, outcome] of Object.entries(expected))
          t.equal(await outcomeOf(`/${route}/x`, credentials[name] ?? []), outcome, name)
      })
    }

    t.test('a caller passes a route that lists their role, by either scheme', async (t) => {
      const admin = await gateway.createAccount({ role: 'Admin' })
      const like = await gateway.createAccount({ role: 'admin' })
      const tokens = await gateway.tokens(admin)
      const byToken = await ask(t, gateway.url, 'GET /admin', [`Authorization: Bearer ${tokens.JwtToken}`])
      const byKey = await ask(t, gateway.url, 'GET /admin', [`SecretKey: ${admin.secretKey}`])
      t.strictSame([byToken.status, byKey.status], [200, 200])
      t.match(backend.last().headers, { 'x-user-id': admin.account.id, 'x-user-role': 'Admin' })
      for (const headers of [[key], [token], [`SecretKey: ${like.secretKey}`]])
        t.equal(await outcomeOf('/admin', headers), 'role-forbidden')
      t.equal(await outcomeOf('/admin', []), 'credentials-missing', 'who it is comes before what it may')
    })

    t.test('a verifiedOnly route takes verified accounts alone, by either scheme', async (t) => {
      for (const headers of [[key], [token]])
        t.equal(await outcomeOf('/verified', headers), 'account-unverified')
      const verified = await gateway.createAccount()
      const tokens = await gateway.tokens(verified)
      for (const headers of [`SecretKey: ${verified.secretKey}`, `Authorization: Bearer ${tokens.JwtToken}`])
        t.equal((await ask(t, gateway.url, 'GET /verified', [headers])).status, 200)
    })

    t.test('names of credential headers and schemes are case-insensitive', async (t) => {
      for (const headers of [
        [`secretkey: ${user.secretKey}`],
        [`SECRETKEY: ${user.secretKey}`],
        [`authorization: bearer ${JwtToken}`],
        [`AUTHORIZATION: BEARER ${JwtToken}`],
        [`Authorization:   Bearer   ${JwtToken}  `],
      ])
        t.equal(await outcomeOf('/any', headers), 'user', String(headers[0]).slice(0, 30))
    })
  })
}
