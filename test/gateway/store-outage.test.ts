import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { until } from '../setup/net.ts'
import { startRedis } from '../setup/redis.ts'
import {
  accessTokenPath,
  ask,
  askJson,
  cookieOf,
  jwksPath,
  refreshTokenPath,
  revokeTokenPath,
} from './support/ask.ts'
import { type Exposition, parseExposition } from './support/metrics.ts'
import { assertProblem } from './support/problem.ts'

const unavailable = { status: 503, code: 'store-unavailable' }

/** Whether identity can be decided from more than what is known, as the ops listener says it. */
async function isReady(opsUrl: string): Promise<boolean> {
  const response = await fetch(`${opsUrl}/readyz`)
  return ((await response.json()) as { readonly status: string }).status === 'ok'
}

async function metricsOf(opsUrl: string): Promise<Exposition> {
  return parseExposition(await (await fetch(`${opsUrl}/metrics`)).text())
}

async function isStoreDown(opsUrl: string): Promise<true | undefined> {
  return (await metricsOf(opsUrl)).value('gatehouse_store_up') === 0 || undefined
}

/** How often accounts were looked up so far, by result. */
async function lookUps(opsUrl: string) {
  const { value } = await metricsOf(opsUrl)
  const countOf = (result: string) => value('gatehouse_key_cache_requests_total', { result })
  return { hit: countOf('hit'), stale: countOf('stale') }
}

for (const [how, stop] of [
  ['is gone', 'SIGKILL'],
  ['hangs', 'SIGSTOP'],
] as const) {
  t.test(`while Redis ${how} an unknown credential is 503 and never 401`, async (t) => {
    const redis = await startRedis(t, ['--appendonly', 'yes', '--appendfsync', 'always'])
    const gateway = await startBoth(t, { driver: 'redis', redis })
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

    await t.test(
      'known callers, requests without the store and wrong credentials are answered as before',
      async (t) => {
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
      },
    )

    await t.test('in an outage a revocation clears the cookie, and a refresh keeps it', async (t) => {
      const cookie = `Cookie: refreshToken=${RefreshToken}`
      const revoked = await ask(t, gateway.url, `POST ${revokeTokenPath}`, [cookie])
      assertProblem(t, revoked, unavailable)
      t.equal(cookieOf(revoked), '')
      const refreshed = await ask(t, gateway.url, `POST ${refreshTokenPath}`, [cookie])
      assertProblem(t, refreshed, unavailable)
      t.equal(cookieOf(refreshed), undefined)
    })

    await t.test('requests served from the cache in an outage are counted as stale', async (t) => {
      await until('the outage is seen', () => isStoreDown(gateway.opsUrl))
      const before = await lookUps(gateway.opsUrl)
      for (let asked = 0; asked < 5; asked++) t.equal((await withKey(known.secretKey)).status, 200)
      const after = await lookUps(gateway.opsUrl)
      t.equal(after.stale - before.stale, 5)
      t.equal(after.hit, before.hit)
    })

    await t.test(
      'the gateway recovers from an outage of Redis without a restart, and loses nothing',
      async (t) => {
        t.equal((await fetch(`${gateway.opsUrl}/livez`)).status, 200)
        if (stop === 'SIGKILL') await redis.start()
        else redis.signal('SIGCONT')
        await until('it is ready', () => isReady(gateway.opsUrl))
        t.equal((await withKey(unknown.secretKey)).status, 200)
        t.equal((await askJson(t, gateway.url, refreshTokenPath, { token: RefreshToken })).status, 200)
      },
    )
  })
}

t.test('a gateway started without Redis reports it, and becomes ready without a restart', async (t) => {
  const redis = await startRedis(t)
  await redis.stop()
  const gateway = await startBoth(t, { driver: 'redis', redis })
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

t.test('with maxStale 0s no caller is served without the store', async (t) => {
  const redis = await startRedis(t)
  const gateway = await startBoth(t, { driver: 'redis', redis, config: { cache: { maxStale: '0s' } } })
  const { secretKey } = await gateway.createAccount()
  const withKey = () => ask(t, gateway.url, 'GET /any', [`SecretKey: ${secretKey}`])
  t.equal((await withKey()).status, 200)
  await redis.stop()
  await until('the outage is seen', () => isStoreDown(gateway.opsUrl))
  assertProblem(t, await withKey(), unavailable)
  t.equal((await fetch(`${gateway.opsUrl}/readyz`)).status, 503)
})

t.test('a credential revoked before an outage stays refused during it', async (t) => {
  const later = { ms: 0 }
  const redis = await startRedis(t)
  const gateway = await startBoth(t, { driver: 'redis', redis, clock: () => Date.now() + later.ms })
  const withKey = (key: string) => ask(t, gateway.url, 'GET /any', [`SecretKey: ${key}`])
  const withToken = (token: string) => ask(t, gateway.url, 'GET /any', [`Authorization: Bearer ${token}`])
  const made = [
    await gateway.createAccount(),
    await gateway.createAccount(),
    await gateway.createAccount(),
    await gateway.createAccount(),
  ] as const
  const [reset, deleted, disabled, signedOut] = made
  const tokens = await Promise.all(made.map(gateway.tokens))
  for (const { secretKey } of made) t.equal((await withKey(secretKey)).status, 200)
  for (const { JwtToken } of tokens) t.equal((await withToken(JwtToken)).status, 200)
  const newKey = await gateway.operate(async ({ accounts, defaultKeys, store }) => {
    await accounts.remove(deleted.account.id)
    await accounts.update(disabled.account.id, { isDisabled: true })
    await store.endSessions(signedOut.account.id)
    return defaultKeys.resetSecretKey(reset.account.id, 0)
  })
  // None of them is shown before the store has gone: that they are over was only heard of.
  await until('all changes were heard of', async () => {
    const heard = (await metricsOf(gateway.opsUrl)).value('gatehouse_revocation_delay_seconds_count')
    return heard >= made.length || undefined
  })
  t.equal((await withKey((await gateway.createAccount()).secretKey)).status, 200, 'and looked up before this')
  await redis.stop()
  await until('the outage is seen', () => isStoreDown(gateway.opsUrl))
  later.ms = 60_000
  const refused = { status: 401, code: 'secret-key-invalid' }
  assertProblem(t, await withKey(reset.secretKey), refused)
  t.equal((await withKey(newKey ?? '')).status, 200)
  assertProblem(t, await withKey(deleted.secretKey), refused)
  assertProblem(t, await withKey(disabled.secretKey), { status: 403, code: 'account-disabled' })
  t.equal((await withKey(signedOut.secretKey)).status, 200)
  for (const { JwtToken } of tokens) {
    assertProblem(t, await withToken(JwtToken), { status: 401, code: 'token-revoked' })
  }
})
