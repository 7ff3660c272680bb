import t from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { codeOf } from '../gateway/support/problem.ts'
import { startBoth } from '../setup/both.ts'
import { storeDrivers } from '../setup/gateway.ts'

for (const driver of storeDrivers) {
  t.test(`cached credentials on ${driver}`, async (t) => {
    const { backend, gateway } = await startBoth(t, { driver })
    const user = await gateway.createAccount({ isVerified: false })
    const admin = await gateway.createAccount({ role: 'Admin' })

    /** The code of a refusal, or the identity that the backend received. */
    async function outcome(path: string, credential: string): Promise<unknown> {
      const response = await ask(t, gateway.url, `GET ${path}`, [credential])
      return codeOf(response) ?? backend.last().headers['x-user-id']
    }

    t.test('a credential cached on one route is authorised again on every other', async (t) => {
      const { JwtToken } = await gateway.tokens(user)
      for (const [credential, own, foreign] of [
        [`SecretKey: ${user.secretKey}`, '/key', '/bearer'],
        [`Authorization: Bearer ${JwtToken}`, '/bearer', '/key'],
      ] as const) {
        for (let turn = 0; turn < 3; turn++) {
          t.equal(await outcome('/any', credential), user.account.id)
          t.equal(await outcome(own, credential), user.account.id)
          t.equal(await outcome('/admin', credential), 'role-forbidden')
          t.equal(await outcome('/verified', credential), 'account-unverified')
          t.equal(await outcome(foreign, credential), 'scheme-not-accepted')
        }
      }
    })

    t.test('a key that passed before a forbidden route does not lend its role to another', async (t) => {
      const [adminKey, userKey] = [`SecretKey: ${admin.secretKey}`, `SecretKey: ${user.secretKey}`]
      const rounds = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? adminKey : userKey))
      const answers = await Promise.all(rounds.map((key) => ask(t, gateway.url, 'GET /admin', [key])))
      for (const [index, { status }] of answers.entries())
        t.equal(status, rounds[index] === adminKey ? 200 : 403)
      const ids = new Set(
        backend.seen.filter(({ url }) => url === '/admin').map(({ headers }) => headers['x-user-id']),
      )
      t.strictSame([...ids], [admin.account.id])
    })

    t.test('a cached account does not make a wrong key of it valid', async (t) => {
      const fresh = await gateway.createAccount()
      const newer = await gateway.operate(({ defaultKeys }) =>
        defaultKeys.resetSecretKey(user.account.id, 3_600),
      )
      const [, , handle = '', secret = ''] = fresh.secretKey.split('_')
      const flipped = [...secret].toReversed().join('')
      for (let turn = 0; turn < 3; turn++) {
        t.equal(await outcome('/key', `SecretKey: ${fresh.secretKey}`), fresh.account.id)
        for (const wrong of [
          `gate_sk_${handle}_${flipped}_000000`,
          fresh.secretKey.replace(handle, user.account.id),
          newer.replace(user.account.id, handle),
          fresh.apiKey,
          fresh.apiKey.replace('_ak_', '_sk_'),
          fresh.secretKey.toLowerCase(),
          `${fresh.secretKey}x`,
        ])
          t.equal(await outcome('/key', `SecretKey: ${wrong}`), 'secret-key-invalid')
      }
    })

    t.test('an account just created is not kept out by its cached absence', async (t) => {
      const gone = await gateway.createAccount()
      await gateway.operate(({ accounts }) => accounts.remove(gone.account.id))
      t.equal(await outcome('/key', `SecretKey: ${gone.secretKey}`), 'secret-key-invalid')
      const made = await gateway.createAccount()
      t.equal(await outcome('/key', `SecretKey: ${made.secretKey}`), made.account.id)
    })
  })
}
