import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { accessTokenPath, ask, askJson } from './support/ask.ts'
import { reloadWith, taken } from './support/reload.ts'

const auth = (route: object) => ({ routes: [{ name: 'all', path: '/', upstream: 'backend', ...route }] })

async function start(t: Test) {
  const { backend, gateway } = await startBoth(t, { config: auth({ auth: 'any' }) })
  const user = await gateway.createAccount()
  const key = `SecretKey: ${user.secretKey}`
  const status = async (headers: readonly string[] = [key]) =>
    (await ask(t, gateway.url, 'GET /x', headers)).status
  const reload = async (options: Readonly<Record<string, unknown>>) =>
    t.match(await reloadWith(gateway, options), taken)
  return { backend, gateway, user, key, status, reload }
}

t.test('a reload changes who may pass a route', async (t) => {
  const { status, reload } = await start(t)
  t.equal(await status([]), 401)
  await reload(auth({ auth: 'none' }))
  t.equal(await status([]), 200)
  await reload(auth({ auth: 'any', roles: ['Admin'] }))
  t.equal(await status(), 403)
  await reload(auth({ auth: 'bearer' }))
  t.equal(await status(), 401)
})

t.test('a reload changes the identity headers, and what is stripped for them', async (t) => {
  const { backend, key, user, status, reload } = await start(t)
  // Decided about a moment ago: what was written for it then must not be sent again.
  t.strictSame([await status(), await status()], [200, 200])
  await reload({ identity: { headers: { id: 'X-Caller' } } })
  t.equal(await status([key, 'X_Caller: forged']), 200)
  const { headers } = backend.last()
  t.equal(headers['x-caller'], user.account.id)
  t.notOk(headers['x-user-id'])
  t.notOk(headers.x_caller)
})

t.test('a reload changes the rates of requests and failures', async (t) => {
  const { status, reload } = await start(t)
  await reload(auth({ auth: 'any', rateLimit: { limit: 2, per: '1h' } }))
  t.strictSame([await status(), await status(), await status()], [200, 200, 429])
  await reload({ limits: { failures: { limit: 1, per: '1h' } } })
  const wrong = ['SecretKey: gsk_wrong']
  t.strictSame([await status(wrong), await status(wrong)], [401, 429])
  await reload(auth({ auth: 'any', rateLimit: { limit: 2, per: '1h' } }))
  t.equal(await status(), 429, 'what was counted is not forgotten')
})

t.test('a reload changes the size limit of heads', async (t) => {
  const { key, status, reload } = await start(t)
  const large = [key, `X-Large: ${'x'.repeat(10_000)}`]
  t.equal(await status(large), 200)
  await reload({ limits: { headers: '4KiB' } })
  t.equal(await status(large), 431)
  await reload({ limits: { headers: '12KiB' } })
  t.equal(await status(large), 200)
})

t.test('a reload changes the size limit of heads on open connections too', async (t) => {
  const { gateway, key, reload } = await start(t)
  const [first, second] = [await connectRaw(t, gateway.url), await connectRaw(t, gateway.url)]
  const large = `GET /x HTTP/1.1\r\nHost: x\r\n${key}\r\nX-Large: ${'x'.repeat(3_000)}\r\n\r\n`
  for (const client of [first, second]) t.equal((await client.send(large).response()).status, 200)
  await reload({ limits: { headers: '1KiB' } })
  t.equal((await first.send(large).response()).status, 431)
  await reload({ limits: { headers: '4KiB' } })
  t.equal((await second.send(large).response()).status, 200)
})

t.test('a reload changes the trusted proxies', async (t) => {
  const { backend, key, status, reload } = await start(t)
  const forwarded = [key, 'X-Forwarded-For: 192.0.2.7']
  await status(forwarded)
  t.equal(backend.last().headers['x-forwarded-for'], '127.0.0.1')
  await reload({ trustedProxies: ['127.0.0.0/8'] })
  await status(forwarded)
  t.equal(backend.last().headers['x-forwarded-for'], '192.0.2.7, 127.0.0.1')
})

t.test('a reload changes the lifetime of new tokens, not of issued ones', async (t) => {
  const { gateway, user, reload } = await start(t)
  const lifetimeOf = (token: string) => {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      readonly iat: number
      readonly exp: number
    }
    return claims.exp - claims.iat
  }
  const before = await gateway.tokens(user)
  await reload({ tokens: { accessLifetime: '1m' } })
  const after = await gateway.tokens(user)
  t.strictSame(
    [before, after].map(({ JwtToken }) => lifetimeOf(JwtToken)),
    [600, 60],
  )
  for (const { JwtToken } of [before, after]) {
    const response = await ask(t, gateway.url, 'GET /x', [`Authorization: Bearer ${JwtToken}`])
    t.equal(response.status, 200)
  }
  await reload({ tokens: { issuer: 'https://other.example' } })
  const old = await ask(t, gateway.url, 'GET /x', [`Authorization: Bearer ${after.JwtToken}`])
  t.equal(old.status, 401, 'of another issuer')
})

t.test('a reload changes the refresh cookie', async (t) => {
  const { gateway, user, reload } = await start(t)
  await reload({ cookie: { name: 'other' } })
  const body = { SecretKey: user.secretKey, APIKey: user.apiKey }
  const { headers } = await askJson(t, gateway.url, accessTokenPath, body)
  t.match(headers['set-cookie'], /^other=grt_/)
})

t.test('a reload switches the access log', async (t) => {
  const { gateway, status, reload } = await start(t)
  const lines = () => gateway.logLines.filter((line) => line.includes('"msg":"request"')).length
  await status()
  t.equal(lines(), 1)
  await reload({ log: { access: false } })
  await status()
  t.equal(lines(), 1)
  await reload({ log: { access: true } })
  await status()
  t.equal(lines(), 2)
})
