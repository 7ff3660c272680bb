import t from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { startRedis } from '../setup/redis.ts'
import { accessTokenPath, ask, askJson, jwksPath, refreshTokenPath, revokeTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const unavailable = { status: 503, code: 'store-unavailable' }

/** Whether identity can be decided from more than what is known, as the ops listener says it. */
async function isReady(opsUrl: string): Promise<boolean> {
  const response = await fetch(`${opsUrl}/readyz`)
  return ((await response.json()) as { readonly status: string }).status === 'ok'
}

for (const [how, stop] of [
  ['is gone', 'SIGKILL'],
  ['hangs', 'SIGSTOP'],
] as const) {
  t.test(`while Redis ${how} what must be looked up is 503 and never 401`, async (t) => {
    const backend = await startBackend(t)
    const redis = await startRedis(t, ['--appendonly', 'yes', '--appendfsync', 'always'])
    const gateway = await startGateway(t, { backend: backend.url, driver: 'redis', redis })
    const known = await gateway.createAccount()
    const unknown = await gateway.createAccount()
    const strange = await gateway.tokens(unknown)
    const { JwtToken, RefreshToken } = await gateway.tokens(known)
    const withKey = (key: string) => ask(t, gateway.url, 'GET /any', [`SecretKey: ${key}`])
    const withToken = (token: string) => ask(t, gateway.url, 'GET /any', [`Authorization: Bearer ${token}`])
    t.equal((await withKey(known.secretKey)).status, 200)
    t.equal((await withToken(JwtToken)).status, 200)
    if (stop === 'SIGKILL') await redis.stop(stop)
    else redis.signal(stop)

    const asked: [string, () => ReturnType<typeof ask>][] = [
      ['a key', () => withKey(unknown.secretKey)],
      [
        'a pair',
        () => askJson(t, gateway.url, accessTokenPath, { SecretKey: known.secretKey, APIKey: known.apiKey }),
      ],
      ['a refresh token', () => askJson(t, gateway.url, refreshTokenPath, { token: RefreshToken })],
      ['a revocation', () => askJson(t, gateway.url, revokeTokenPath, { token: RefreshToken })],
    ]
    for (const [name, call] of asked) {
      await t.test(`${name} is 503 within 500 ms`, async (t) => {
        const start = performance.now()
        assertProblem(t, await call(), unavailable)
        // Twice what is promised: the machine of the tests does other things too.
        t.ok(performance.now() - start < 1_000)
      })
    }

    await t.test('who is known goes on, what needs no store too, and the wrong stay wrong', async (t) => {
      t.equal((await withKey(known.secretKey)).status, 200)
      t.equal((await withToken(JwtToken)).status, 200)
      t.equal((await withToken(strange.JwtToken)).status, 200, 'a token says who it is for')
      const verified = await ask(t, gateway.url, 'GET /verified', [
        `Authorization: Bearer ${strange.JwtToken}`,
      ])
      assertProblem(t, verified, unavailable)
      t.equal((await ask(t, gateway.url, 'GET /public')).status, 200)
      t.equal((await ask(t, gateway.url, 'GET /optional')).status, 200)
      t.equal((await ask(t, gateway.url, `GET ${jwksPath}`)).status, 200)
      assertProblem(t, await withKey('gsk_wrong'), { status: 401, code: 'secret-key-invalid' })
      assertProblem(t, await withToken('x.y.z'), { status: 401, code: 'token-invalid' })
    })

    await t.test('it comes back by itself, and nothing is lost', async (t) => {
      await until('the outage is seen', async () => {
        const text = await (await fetch(`${gateway.opsUrl}/metrics`)).text()
        return /^gatehouse_store_up 0$/m.test(text)
      })
      t.equal((await fetch(`${gateway.opsUrl}/livez`)).status, 200)
      if (stop === 'SIGKILL') await redis.start()
      else redis.signal('SIGCONT')
      await until('it is ready', () => isReady(gateway.opsUrl))
      t.equal((await withKey(unknown.secretKey)).status, 200)
      t.equal((await askJson(t, gateway.url, refreshTokenPath, { token: RefreshToken })).status, 200)
    })
  })
}

t.test('it starts without Redis, says so, and becomes ready by itself', async (t) => {
  const redis = await startRedis(t)
  await redis.stop()
  const backend = await startBackend(t)
  const gateway = await startGateway(t, { backend: backend.url, driver: 'redis', redis })
  t.equal((await fetch(`${gateway.opsUrl}/livez`)).status, 200)
  t.equal((await fetch(`${gateway.opsUrl}/readyz`)).status, 503)
  t.equal((await ask(t, gateway.url, 'GET /public')).status, 200)
  assertProblem(t, await ask(t, gateway.url, 'GET /any'), { status: 401, code: 'credentials-missing' })
  assertProblem(t, await ask(t, gateway.url, `GET ${jwksPath}`), unavailable)
  const wellFormed = 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6IngifQ.e30.AAAA'
  const token = [`Authorization: Bearer ${wellFormed}`]
  assertProblem(t, await ask(t, gateway.url, 'GET /any', token), unavailable)

  await redis.start()
  await until('it is ready', () => isReady(gateway.opsUrl))
  const account = await gateway.createAccount()
  const { JwtToken } = await gateway.tokens(account)
  const headers = [`Authorization: Bearer ${JwtToken}`]
  t.equal((await ask(t, gateway.url, 'GET /any', headers)).status, 200)
  t.equal((await ask(t, gateway.url, 'GET /any', [`SecretKey: ${account.secretKey}`])).status, 200)
})
