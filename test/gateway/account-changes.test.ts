import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { accessTokenPath, ask, askJson, refreshTokenPath } from './support/ask.ts'
import { codeOf } from './support/problem.ts'

for (const driver of storeDrivers) {
  t.test(`changes of an account on ${driver}`, async (t) => {
    let aheadMs = 0
    const clock = () => Date.now() + aheadMs
    const { backend, gateway } = await startBoth(t, { driver, clock })
    // So that those of the tests are not the last.
    await gateway.createAccount({ role: 'Admin' })

    /** An account that everything is known of already: what is kept of it must not outlive a change. */
    async function startAccount() {
      const created = await gateway.createAccount()
      const tokens = await gateway.tokens(created)
      const byKey = (key = created.secretKey, path = '/any') =>
        ask(t, gateway.url, `GET ${path}`, [`SecretKey: ${key}`]).then(said)
      const byToken = (token = tokens.JwtToken, path = '/any') =>
        ask(t, gateway.url, `GET ${path}`, [`Authorization: Bearer ${token}`]).then(said)
      const byPair = (key = created.secretKey, apiKey = created.apiKey) =>
        askJson(t, gateway.url, accessTokenPath, { SecretKey: key, APIKey: apiKey }).then(said)
      const refresh = () =>
        askJson(t, gateway.url, refreshTokenPath, { token: tokens.RefreshToken }).then(said)
      t.strictSame([await byKey(), await byToken()], ['ok', 'ok'])
      return { ...created, id: created.account.id, byKey, byToken, byPair, refresh }
    }

    function said(response: Awaited<ReturnType<typeof ask>>): unknown {
      return codeOf(response) ?? 'ok'
    }

    /** What another process has changed is known here soon. */
    const soon = (expected: string, ask: () => Promise<unknown>) =>
      until(expected, async () => ((await ask()) === expected ? expected : undefined), 2_000)

    t.test('a disabled account is refused by key and pair, and its tokens are revoked', async (t) => {
      const account = await startAccount()
      await gateway.operate(({ accounts }) => accounts.update(account.id, { isDisabled: true }))
      await soon('account-disabled', account.byKey)
      t.equal(await account.byToken(), 'token-revoked')
      t.equal(await account.byPair(), 'account-disabled')
      t.equal(await account.refresh(), 'session-revoked')
      await gateway.operate(({ accounts }) => accounts.update(account.id, { isDisabled: false }))
      await soon('ok', account.byKey)
      t.equal(await account.byToken(), 'token-revoked', 'what has ended stays ended')
      t.equal(await account.byPair(), 'ok')
      t.equal(await account.refresh(), 'session-revoked')
    })

    t.test('a deleted account is refused like one that never existed', async (t) => {
      const account = await startAccount()
      await gateway.operate(({ accounts }) => accounts.remove(account.id))
      await soon('secret-key-invalid', account.byKey)
      t.equal(await account.byToken(), 'token-revoked')
      t.equal(await account.byPair(), 'credentials-invalid')
      t.equal(await account.refresh(), 'session-revoked')
    })

    t.test('a changed role ends tokens with the old one, and applies to the key at once', async (t) => {
      const account = await startAccount()
      t.equal(await account.byKey(account.secretKey, '/admin'), 'role-forbidden')
      await gateway.operate(({ accounts }) => accounts.update(account.id, { role: 'Admin' }))
      await soon('ok', () => account.byKey(account.secretKey, '/admin'))
      t.equal(backend.last().headers['x-user-role'], 'Admin')
      t.equal(await account.byToken(), 'token-revoked')
      const { JwtToken } = await gateway.tokens(account)
      t.equal(await account.byToken(JwtToken, '/admin'), 'ok')
      t.equal(await account.refresh(), 'ok', 'the session itself goes on, with the new role')
      await gateway.operate(({ accounts }) => accounts.update(account.id, { role: 'User' }))
      await soon('role-forbidden', () => account.byKey(account.secretKey, '/admin'))
      t.equal(await account.byToken(JwtToken, '/admin'), 'token-revoked')
    })

    t.test('a role changed back revives no token that the change had ended', async (t) => {
      const account = await startAccount()
      const change = (role: string) =>
        gateway.operate(({ accounts }) => accounts.update(account.id, { role }))
      await change('Admin')
      await soon('token-revoked', account.byToken)
      const between = await gateway.tokens(account)
      await change('User')
      await soon('token-revoked', () => account.byToken(between.JwtToken))
      t.equal(await account.byToken(), 'token-revoked')
      t.equal(await account.refresh(), 'ok', 'the session goes on')
      const { JwtToken } = await gateway.tokens(account)
      t.equal(await account.byToken(JwtToken), 'ok')
    })

    t.test('a secret key reset without overlap ends the key, the sessions and their tokens', async (t) => {
      const account = await startAccount()
      const newKey = await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(account.id, 0))
      await soon('secret-key-invalid', account.byKey)
      t.equal(await account.byKey(newKey), 'ok')
      t.equal(await account.byToken(), 'token-revoked')
      t.equal(await account.refresh(), 'session-revoked')
      t.equal(await account.byPair(), 'credentials-invalid')
      t.equal(await account.byPair(newKey), 'ok')
    })

    t.test('a secret key reset with overlap lets both keys work until it ends', async (t) => {
      const account = await startAccount()
      const newKey = await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(account.id, 3_600))
      await soon('ok', () => account.byKey(newKey))
      t.equal(await account.byKey(), 'ok')
      t.equal(await account.byPair(), 'ok')
      t.equal(await account.byPair(newKey), 'ok')
      t.equal(await account.byToken(), 'ok', 'sessions go on')
      aheadMs += 3_600_001
      t.equal(await account.byKey(), 'secret-key-invalid')
      t.equal(await account.byPair(), 'credentials-invalid')
      t.equal(await account.byKey(newKey), 'ok')
      t.equal(await account.byPair(newKey), 'ok')
    })

    t.test('an API key reset ends only the API key', async (t) => {
      const account = await startAccount()
      const newKey = await gateway.operate(({ defaultKeys }) => defaultKeys.resetApiKey(account.id))
      t.equal(await account.byPair(), 'credentials-invalid')
      t.equal(await account.byPair(account.secretKey, newKey), 'ok')
      t.strictSame([await account.byKey(), await account.byToken()], ['ok', 'ok'])
    })

    t.test('a revoked session ends, and a newly verified account passes verifiedOnly routes', async (t) => {
      const account = await startAccount()
      await gateway.operate(({ store }) => store.endSessions(account.id))
      await soon('token-revoked', account.byToken)
      t.equal(await account.refresh(), 'session-revoked')
      await gateway.operate(({ accounts }) => accounts.update(account.id, { isVerified: false }))
      await soon('account-unverified', () => account.byKey(account.secretKey, '/verified'))
      await gateway.operate(({ accounts }) => accounts.update(account.id, { isVerified: true }))
      await soon('ok', () => account.byKey(account.secretKey, '/verified'))
    })
  })
}
