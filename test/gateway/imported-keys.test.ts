import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { run } from '../cli/run.ts'
import { startBoth } from '../setup/both.ts'
import type { TestGateway, TestGatewayOptions } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { ask, askJson } from './support/ask.ts'
import { importKey } from './support/further-keys.ts'
import { assertProblem } from './support/problem.ts'

const foreign = 'AKIA-made-elsewhere'

async function start(t: Test, accept: readonly string[], options: TestGatewayOptions = {}) {
  const { config, ...others } = options
  const keys = { sealingKey: { file: 'sealing.key' }, accept }
  const gateway = await startBoth(t, { config: { keys, ...config }, ...others })
  const user = await gateway.createAccount()
  const wordWith = async (path: string, header: string, url = gateway.url) => {
    const { status, json } = await ask(t, url, `GET ${path}`, [header])
    return status === 200 ? '200' : `${status} ${(json() as { readonly code: string }).code}`
  }
  return { gateway, user, wordWith }
}

const basic = (password: string) =>
  `Authorization: Basic ${Buffer.from(`git:${password}`).toString('base64')}`
const bearer = (token: string) => `Authorization: Bearer ${token}`

t.test('an imported key is taken in every place that keys.accept names', async (t) => {
  const { gateway, user, wordWith } = await start(t, ['SecretKey', 'bearer', 'basic'])
  await importKey(gateway, user.account.id, foreign)
  for (const header of [`SecretKey: ${foreign}`, bearer(foreign), basic(foreign)]) {
    t.equal(await wordWith('/any', header), '200', header)
    t.equal(await wordWith('/key', header), '200', header)
    t.equal(await wordWith('/bearer', header), '401 scheme-not-accepted', header)
  }
  t.equal(await wordWith('/any', bearer('AKIA-of-nobody')), '401 secret-key-invalid')
  const both = await ask(t, gateway.url, 'GET /any', [`SecretKey: ${foreign}`, bearer(foreign)])
  assertProblem(t, both, { status: 400, code: 'credentials-ambiguous' })
})

t.test('as a bearer token a JWT or refresh token is never taken for a key', async (t) => {
  const { gateway, user, wordWith } = await start(t, ['SecretKey', 'bearer'])
  const { JwtToken, RefreshToken } = await gateway.tokens(user)
  t.equal(await wordWith('/any', bearer(JwtToken)), '200')
  const spaced = `${Buffer.from(' {"alg":"none"}').toString('base64url')}.e30.x`
  for (const [index, token] of [`${JwtToken}x`, spaced, 'eyJhbGciOiJub25lIn0', RefreshToken].entries()) {
    await importKey(gateway, user.account.id, token, { name: `k${index}` })
    t.equal(await wordWith('/any', bearer(token)), '401 token-invalid', token)
  }
  const dotted = 'SG.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf09kqeF8tAmbihYzrnopKc'
  await importKey(gateway, user.account.id, dotted, { name: 'dotted' })
  t.equal(await wordWith('/any', bearer(dotted)), '200', 'three parts are not yet a JWT')
})

t.test('where keys are not taken as bearer tokens, an imported key is none there', async (t) => {
  const { gateway, user, wordWith } = await start(t, ['SecretKey'])
  await importKey(gateway, user.account.id, foreign)
  t.equal(await wordWith('/any', bearer(foreign)), '401 token-invalid')
  t.equal(await wordWith('/any', `SecretKey: ${foreign}`), '200')
})

t.test('an imported key has 8 to 512 characters', async (t) => {
  const { gateway, user, wordWith } = await start(t, ['SecretKey', 'bearer', 'basic'])
  for (const [length, word] of [
    [1, '401 secret-key-invalid'],
    [7, '401 secret-key-invalid'],
    [8, '200'],
    [9, '200'],
    [511, '200'],
    [512, '200'],
    [513, '401 secret-key-invalid'],
    [10_000, '401 secret-key-invalid'],
  ] as const) {
    const key = 'k'.repeat(length)
    await importKey(gateway, user.account.id, key, { name: `of-${length}` })
    t.equal(await wordWith('/any', `SecretKey: ${key}`), word, `${length}`)
    const asToken = word === '200' ? word : '401 token-invalid'
    t.equal(await wordWith('/any', bearer(key)), asToken, `bearer, ${length}`)
    const tooLong = length > 3_000 ? '401 secret-key-invalid' : word
    t.equal(await wordWith('/any', basic(key)), tooLong, `basic, ${length}`)
  }
})

t.test('an imported key and the API key get tokens, which have its scopes and end with it', async (t) => {
  const { gateway, user, wordWith } = await start(t, ['SecretKey'], {
    config: {
      routes: [
        { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
        { name: 'orders', path: '/orders', upstream: 'backend', auth: 'any', scopes: ['orders:read'] },
      ],
    },
  })
  const { id } = user.account
  await importKey(gateway, id, foreign, { scopes: ['orders:read'] })
  const other = await gateway.createAccount()
  for (const [secretKey, apiKey] of [
    [foreign, other.apiKey],
    ['AKIA-of-nobody', user.apiKey],
    ['k'.repeat(7), user.apiKey],
    [foreign, foreign],
    [user.apiKey, foreign],
  ] as const) {
    const refused = await askJson(t, gateway.url, '/api/v1/accounts/access-token', {
      SecretKey: secretKey,
      APIKey: apiKey,
    })
    assertProblem(t, refused, { status: 401, code: 'credentials-invalid' })
  }
  const { Id, JwtToken } = await gateway.tokens({ ...user, secretKey: foreign })
  t.equal(Id, id)
  t.equal(await wordWith('/orders', bearer(JwtToken)), '200')
  t.equal(await wordWith('/any', bearer(JwtToken)), '403 scope-forbidden')
  const { JwtToken: ofDefault } = await gateway.tokens(user)
  await gateway.operate(({ secretKeys }) => secretKeys.revoke(id, 'elsewhere', 0))
  await until('its token ends too', async () => {
    return (await wordWith('/orders', bearer(JwtToken))) === '401 token-revoked' || undefined
  })
  t.equal(await wordWith('/any', bearer(ofDefault)), '200', 'those of other keys do not')
})

t.test('whoever holds an imported key ends it alone', async (t) => {
  const { gateway, user, wordWith } = await start(t, ['SecretKey', 'bearer'])
  await importKey(gateway, user.account.id, foreign)
  await importKey(gateway, user.account.id, `${foreign}-2`, { name: 'second' })
  t.equal(await wordWith('/any', bearer(foreign)), '200')
  t.equal((await askJson(t, gateway.url, '/api/v1/keys/revoke', { key: foreign })).status, 200)
  t.equal(await wordWith('/any', bearer(foreign)), '401 secret-key-invalid', 'at once')
  t.equal(await wordWith('/any', bearer(`${foreign}-2`)), '200')
  t.equal(await wordWith('/any', `SecretKey: ${user.secretKey}`), '200')
  t.notMatch(gateway.logLines.join(''), foreign)
  for (const key of [foreign, 'AKIA-of-nobody', 'k'.repeat(7), 'k'.repeat(513)])
    t.equal((await askJson(t, gateway.url, '/api/v1/keys/revoke', { key })).status, 200, 'like any text')
})

t.test('an imported key that moves to another account is known as its key at once', async (t) => {
  const { gateway, user, wordWith } = await start(t, ['SecretKey'], {
    config: {
      routes: [
        { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
        { name: 'admin', path: '/admin', upstream: 'backend', auth: 'any', roles: ['Admin'] },
      ],
    },
  })
  const admin = await gateway.createAccount({ role: 'Admin' })
  const move = async (from: string, to: string) => {
    await gateway.operate(({ secretKeys }) => secretKeys.revoke(from, 'elsewhere', 0))
    await importKey(gateway, to, foreign)
  }
  const header = `SecretKey: ${foreign}`
  await importKey(gateway, user.account.id, foreign)
  t.equal(await wordWith('/admin', header), '403 role-forbidden')
  await move(user.account.id, admin.account.id)
  t.equal(await wordWith('/admin', header), '200')
  await move(admin.account.id, user.account.id)
  t.equal(await wordWith('/any', header), '200')
  t.equal(await wordWith('/admin', header), '403 role-forbidden')
})

t.test('explain names an imported key, where it came, and when it expires', async (t) => {
  const { gateway, user } = await start(t, ['SecretKey', 'bearer'])
  const expiresAt = Date.UTC(2100, 0, 31)
  await importKey(gateway, user.account.id, foreign, { name: 'partner', expiresAt })
  const explain = async (header: string) => {
    const command = ['explain', 'GET', `${gateway.url}/any`, '-H', header]
    const { stdout } = await run(t, [...command, '--config', gateway.configFile])
    t.notMatch(stdout, foreign)
    return stdout
  }
  const shown = await explain(bearer(foreign))
  t.match(shown, 'secretKey in bearer (accepted here: secretKey in SecretKey, bearer; bearer)')
  t.match(shown, `account ${user.account.id}`)
  t.match(shown, ', key partner, valid until 2100-01-31T00:00:00.000Z')
  t.match(await explain(bearer(`${foreign}x`)), /secret key/i)
  t.notMatch(await explain(`SecretKey: ${user.secretKey}`), 'valid until', 'it does not expire')
})

/** How often Redis is asked for an imported key from now on. */
async function countLookUps(t: Test, port: number): Promise<() => number> {
  const socket = connect(port, '127.0.0.1', () => socket.write('MONITOR\r\n'))
  t.teardown(() => socket.destroy())
  let seen = ''
  socket.setEncoding('latin1').on('data', (data: string) => {
    seen += data
  })
  await until('Redis reports its commands', () => seen.startsWith('+OK') || undefined)
  // Not those of scripts, which import keys.
  return () => seen.match(/\[0 127[^\]]*\] "hget" "[^"]*imported/g)?.length ?? 0
}

async function startLimited(t: Test, limit: number) {
  const started = await start(t, ['SecretKey'], {
    driver: 'redis',
    config: { limits: { failures: { limit, per: '1h' } } },
  })
  const { gateway, user, wordWith } = started
  await importKey(gateway, user.account.id, foreign)
  const lookUps = await countLookUps(t, gateway.redis?.port ?? 0)
  const wordsOf = (keys: readonly string[]) =>
    Promise.all(keys.map((key) => wordWith('/any', `SecretKey: ${key}`)))
  return { ...started, lookUps, wordsOf }
}

const fifty = Array.from({ length: 50 }, (_, index) => index)

t.test('a key that was revoked is looked up once more, and then like any that was made up', async (t) => {
  const { gateway, user, lookUps, wordsOf } = await startLimited(t, 10)
  t.strictSame(await wordsOf([foreign]), ['200'])
  t.equal(lookUps(), 1)
  await gateway.operate(({ secretKeys }) => secretKeys.revoke(user.account.id, 'elsewhere', 0))
  const words = await wordsOf(fifty.map(() => foreign))
  t.notOk(words.includes('200'))
  t.equal(lookUps(), 2)
})

t.test('made-up keys at once are looked up no more often than the failure limit allows', async (t) => {
  const { lookUps, wordsOf } = await startLimited(t, 10)
  const words = await wordsOf(fifty.map((index) => `AKIA-made-up-${index}`))
  t.equal(words.filter((word) => word === '401 secret-key-invalid').length, 10)
  t.equal(words.filter((word) => word === '429 too-many-failures').length, 40)
  t.equal(lookUps(), 10)
  t.strictSame(await wordsOf(['AKIA-made-up-x']), ['429 too-many-failures'])
  t.equal(lookUps(), 10, 'nor one after the other')
})

async function importMany(gateway: TestGateway, count: number): Promise<readonly string[]> {
  const keys: string[] = []
  for (let index = 0; index < count; index++) {
    const { account } = await gateway.createAccount({ email: `many${index}@example.com` })
    const key = `AKIA-of-many-${index}`
    await importKey(gateway, account.id, key)
    keys.push(key)
  }
  return keys
}

t.test('imported keys that come at once for the first time are all accepted', async (t) => {
  const { gateway, lookUps, wordsOf } = await startLimited(t, 3)
  const keys = await importMany(gateway, 30)
  t.strictSame(await wordsOf(keys), Array(30).fill('200'))
  t.equal(lookUps(), 30, 'each once')
  const mixed = keys.flatMap((key, index) => (index % 15 === 0 ? [key, `AKIA-wrong-${index}`] : [key]))
  t.strictSame(
    await wordsOf(mixed),
    mixed.map((key) => (key.includes('wrong') ? '401 secret-key-invalid' : '200')),
  )
  t.strictSame(await wordsOf(['AKIA-x', 'AKIA-y']), ['401 secret-key-invalid', '429 too-many-failures'])
  t.strictSame(await wordsOf(keys), Array(30).fill('200'), 'those that are known always')
})
