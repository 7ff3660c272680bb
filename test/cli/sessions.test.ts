import t from 'tap'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { run } from './run.ts'

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

interface ListedSession {
  readonly id: string
  readonly createdAt: string
  readonly refreshedAt: string
  readonly expiresAt: string
}

for (const driver of storeDrivers) {
  t.test(`sessions commands beside a running gateway on ${driver}`, async (t) => {
    const gateway = await startGateway(t, { driver })
    const ada = await gateway.createAccount()
    const bob = await gateway.createAccount()
    const gatehouse = (...args: readonly string[]) => run(t, [...args, '--config', gateway.configFile])
    const sessionsOf = async (who: string) =>
      (await gatehouse('sessions', 'list', who, '--json')).json() as readonly ListedSession[]
    const codeFor = async (token: string) => {
      const response = await fetch(`${gateway.url}/bearer`, { headers: { Authorization: `Bearer ${token}` } })
      return ((await response.json()) as { readonly code: string }).code
    }
    const first = await gateway.tokens(ada)
    const second = await gateway.tokens(ada)
    const ofBob = await gateway.tokens(bob)
    await gateway.post('/api/v1/accounts/refresh-token', { token: second.RefreshToken })

    t.test('list shows every open session of the account, and when it ends', async (t) => {
      const outcome = await gatehouse('sessions', 'list', ada.account.email, '--json')
      t.equal(outcome.status, 0)
      const sessions = outcome.json() as readonly ListedSession[]
      t.equal(sessions.length, 2)
      for (const session of sessions) {
        t.strictSame(Object.keys(session), [
          'id',
          'createdAt',
          'refreshedAt',
          'expiresAt',
          'refreshes',
          'address',
          'client',
        ])
        t.match(session, { address: '127.0.0.1', client: 'node' })
        t.match(session, { createdAt: time, refreshedAt: time, expiresAt: time })
        const livesMs = Date.parse(session.expiresAt) - Date.parse(session.refreshedAt)
        t.equal(livesMs, 7 * 86_400_000, 'without a refresh it ends after tokens.refreshIdle')
      }
      t.strictSame(sessions.map((session) => Reflect.get(session, 'refreshes')).toSorted(), [0, 1])
      const { stdout } = await gatehouse('sessions', 'list', ada.account.id)
      const [heading, ...rows] = stdout.trimEnd().split('\n')
      t.match(heading, /^ID +CREATED +REFRESHED +EXPIRES +FROM$/)
      t.strictSame(rows.map((row) => row.split(' ')[0]).toSorted(), sessions.map(({ id }) => id).toSorted())
    })

    t.test('a session that the account does not have is refused, also where another has it', async (t) => {
      const [session] = await sessionsOf(bob.account.email)
      for (const id of ['nonsense', session?.id ?? '']) {
        const outcome = await gatehouse('sessions', 'revoke', ada.account.email, '--session', id)
        t.equal(outcome.status, 1)
        t.match(outcome.stderr, `gatehouse: the account has no active session ${id}\n`)
        t.match(outcome.stderr, 'gatehouse sessions list')
      }
      t.equal(await codeFor(ofBob.JwtToken), 'upstream-unreachable', "bob's session goes on")
    })

    t.test('revoke --session ends one session with its access token, no other', async (t) => {
      const sessionId = sessionIdOf(first.JwtToken)
      const outcome = await gatehouse(
        'sessions',
        'revoke',
        ada.account.email,
        '--session',
        sessionId,
        '--json',
      )
      t.equal(outcome.status, 0)
      t.strictSame(outcome.json(), { revoked: [sessionId] })
      await until(
        'it is refused',
        async () => (await codeFor(first.JwtToken)) === 'token-revoked' || undefined,
      )
      t.equal(await codeFor(second.JwtToken), 'upstream-unreachable')
      t.strictSame(
        (await sessionsOf(ada.account.id)).map(({ id }) => id),
        [sessionIdOf(second.JwtToken)],
      )
    })

    t.test('revoke without --session ends all open sessions', async (t) => {
      const outcome = await gatehouse('sessions', 'revoke', ada.account.email)
      t.equal(outcome.stdout, '1 session revoked.\n')
      await until(
        'it is refused',
        async () => (await codeFor(second.JwtToken)) === 'token-revoked' || undefined,
      )
      t.equal(await codeFor(ofBob.JwtToken), 'upstream-unreachable')
      t.equal((await gatehouse('sessions', 'list', ada.account.email)).stdout, 'No active sessions.\n')
      t.strictSame(await sessionsOf(ada.account.email), [])
    })

    t.test('revoke with nothing to revoke says so and succeeds', async (t) => {
      const outcome = await gatehouse('sessions', 'revoke', ada.account.email)
      t.equal(outcome.status, 0)
      t.match(outcome.stdout, /^0 sessions revoked\.\n$/)
      t.strictSame((await gatehouse('sessions', 'revoke', ada.account.email, '--json')).json(), {
        revoked: [],
      })
    })
  })
}

function sessionIdOf(token: string): string {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    readonly sid: string
  }
  return claims.sid
}
