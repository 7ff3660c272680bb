import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { decodeJwt } from 'jose'
import t from 'tap'
import type { Operator } from '#cli/operator.ts'
import { createVerifier } from '#library/verify.ts'
import { reloadWith } from '../../gateway/support/reload.ts'
import { startBoth } from '../../setup/both.ts'
import { startAppsInstead, startGateway } from '../../setup/gateway.ts'
import { freePort, until } from '../../setup/net.ts'
import {
  codeOf,
  feedConfig,
  followingVerifier,
  revocationsPath,
  startFollowing,
  untilCode,
} from './following.ts'

t.test('whatever revokes a caller, older assertions are refused within a second', async (t) => {
  const { gateway, verifier, created, states, assertionOf } = await startFollowing(t)
  const { id } = created.account
  const key = { SecretKey: created.secretKey }
  const { JwtToken } = await gateway.tokens(created)
  const bearer = { Authorization: `Bearer ${JwtToken}` }
  const changes: Readonly<Record<string, (operator: Operator) => Promise<unknown>>> = {
    'another role': ({ accounts }) => accounts.update(id, { role: 'User' }),
    'a further key': ({ secretKeys }) =>
      secretKeys.create(id, { name: 'ci', scopes: [], addresses: [], expiresAt: undefined }),
    'that key revoked': ({ secretKeys }) => secretKeys.revoke(id, 'ci', 0),
  }
  for (const [name, change] of Object.entries(changes)) {
    const before = await assertionOf(key)
    t.equal(await codeOf(verifier.verify(before)), 'verified', name)
    await gateway.operate(change)
    t.ok((await untilCode(verifier, before, 'revoked')) < 1_000, name)
    t.equal(await codeOf(verifier.verify(await assertionOf(key))), 'verified', `${name}: the next one`)
  }
  const ofSession = await assertionOf({ Authorization: `Bearer ${(await gateway.tokens(created)).JwtToken}` })
  const { sid } = decodeJwt(ofSession)
  await gateway.operate(({ sessions }) => sessions.end(id, String(sid)))
  t.ok((await untilCode(verifier, ofSession, 'revoked')) < 1_000, 'a session')
  t.equal(await codeOf(verifier.verify(await assertionOf(key))), 'verified', 'no other caller')

  const before = await assertionOf(key)
  await gateway.operate(({ accounts }) => accounts.update(id, { isDisabled: true }))
  t.ok((await untilCode(verifier, before, 'revoked')) < 1_000, 'a disabled account')
  await gateway.operate(({ accounts }) => accounts.update(id, { isDisabled: false }))
  t.equal(await codeOf(verifier.verify(await assertionOf(key))), 'verified', 'enabled again, at once')
  t.equal((await fetch(`${gateway.url}/any`, { headers: bearer })).status, 401)
  t.equal(states[0], 'current')
})

t.test(
  'an access token that an app verifies itself is refused with its session, and after a change',
  async (t) => {
    const { gateway, verifier, created } = await startFollowing(t)
    const { id } = created.account
    const verdictOf = (token: string) => codeOf(verifier.assertNotRevoked(decodeJwt(token)))
    const [one, other] = [await gateway.tokens(created), await gateway.tokens(created)]
    t.equal(await verdictOf(one.JwtToken), 'verified')
    await gateway.operate(({ sessions }) => sessions.end(id, String(decodeJwt(one.JwtToken).sid)))
    await until('revoked', async () => (await verdictOf(one.JwtToken)) === 'revoked')
    t.equal(await verdictOf(other.JwtToken), 'verified', 'another session goes on')
    await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(id, 0))
    await until('revoked', async () => (await verdictOf(other.JwtToken)) === 'revoked')
    const { iat = 0, ...claims } = decodeJwt(other.JwtToken)
    t.equal(await codeOf(verifier.assertNotRevoked({ ...claims, iat: iat + 60 })), 'verified', 'a later one')
    t.equal(await codeOf(verifier.assertNotRevoked({ ...claims })), 'revoked', 'without a time')
  },
)

t.test('without `revocations` no token passes as not revoked', async (t) => {
  const { gateway } = await startFollowing(t)
  const verifier = createVerifier({ jwksUrl: gateway.url, issuer: 'x', audience: 'y' })
  await t.rejects(verifier.assertNotRevoked({}), TypeError)
  verifier.close()
})

t.test('a new verifier knows what was revoked before it came', async (t) => {
  const { gateway, verifier, reader, created, assertionOf } = await startFollowing(t)
  const before = await assertionOf({ SecretKey: created.secretKey })
  await gateway.operate(({ accounts }) => accounts.update(created.account.id, { role: 'User' }))
  await untilCode(verifier, before, 'revoked')
  const later = followingVerifier(t, gateway, {
    revocations: { url: gateway.url + revocationsPath, headers: { SecretKey: reader.secretKey } },
  })
  t.equal(await codeOf(later.verify(before)), 'revoked', 'with its first question')
})

t.test('clocks that differ within the tolerance change nothing', async (t) => {
  for (const aheadMs of [-4_000, 4_000]) {
    const { gateway, verifier, created, assertionOf } = await startFollowing(t, {
      clock: () => Date.now() + aheadMs,
    })
    const key = { SecretKey: created.secretKey }
    const before = await assertionOf(key)
    t.equal(await codeOf(verifier.verify(before)), 'verified')
    await gateway.operate(({ accounts }) => accounts.update(created.account.id, { role: 'User' }))
    t.ok((await untilCode(verifier, before, 'revoked')) < 1_000)
    t.equal(await codeOf(verifier.verify(await assertionOf(key))), 'verified')
  }
})

t.test('who may ask about tokens may read, as many as the config says, until their key ends', async (t) => {
  const { gateway } = await startBoth(t, {
    config: {
      tokens: { revocationFeed: { enabled: true, readers: 1 }, introspection: { roles: ['Reader'] } },
    },
  })
  const [reader, user] = [await gateway.createAccount({ role: 'Reader' }), await gateway.createAccount()]
  const path = `${revocationsPath}?nonce=1`
  const read = (headers: Readonly<Record<string, string>>, to = path, method = 'GET') =>
    fetch(gateway.url + to, { headers, method })
  const codes = async (response: Response) => [
    response.status,
    ((await response.json()) as { code: string }).code,
  ]
  const key = { SecretKey: reader.secretKey }
  t.strictSame(await codes(await read({})), [401, 'credentials-missing'])
  t.strictSame(await codes(await read({ SecretKey: user.secretKey })), [403, 'role-forbidden'])
  t.strictSame(await codes(await read(key, revocationsPath)), [400, 'request-invalid'])
  t.strictSame(await codes(await read(key, `${revocationsPath}?nonce=${'x'.repeat(129)}`)), [
    400,
    'request-invalid',
  ])
  const head = await read(key, path, 'HEAD')
  t.strictSame([head.status, await head.text()], [200, ''])
  const first = await read(key)
  t.equal(first.headers.get('content-type'), 'text/event-stream')
  t.equal(first.headers.get('cache-control'), 'no-store')
  const second = await read(key)
  t.ok(second.headers.has('retry-after'))
  t.strictSame(await codes(second), [429, 'rate-limited'])
  await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(reader.account.id, 0))
  await first.text()
  t.pass('the stream has ended')
  t.equal((await read(key)).status, 401)
})

t.test('a gateway without the feed says so, and its assertions have no claim of it', async (t) => {
  const { gateway, backend } = await startBoth(t, { config: { identity: feedConfig.identity } })
  const { secretKey } = await gateway.createAccount({ role: 'Admin' })
  const response = await fetch(`${gateway.url}${revocationsPath}?nonce=1`, {
    headers: { SecretKey: secretKey },
  })
  t.match(await response.json(), { status: 404, code: 'route-not-found', detail: /tokens\.revocationFeed/ })
  await fetch(`${gateway.url}/any`, { headers: { SecretKey: secretKey } })
  t.notOk('rev' in decodeJwt(String(backend.last().headers['x-gatehouse-assertion'])))
})

t.test('an app with the Fastify plugin also streams what it revokes', async (t) => {
  startAppsInstead(t)
  const { gateway, verifier, created, assertionOf } = await startFollowing(t)
  const key = { SecretKey: created.secretKey }
  const before = await assertionOf(key)
  t.equal(await codeOf(verifier.verify(before)), 'verified')
  await gateway.operate(({ accounts }) => accounts.update(created.account.id, { role: 'User' }))
  t.ok((await untilCode(verifier, before, 'revoked')) < 1_000)
  t.equal(await codeOf(verifier.verify(await assertionOf(key))), 'verified')
})

t.test('a connection that failed is followed by another within 5 s, and ever later until then', async (t) => {
  const start = setTimeout
  const pauses = t.capture(globalThis, 'setTimeout', ((work: () => void, ms?: number) =>
    start(work, work.name === 'end' ? 0 : ms)) as typeof setTimeout)
  t.intercept(Math, 'random', { value: () => 1 - Number.EPSILON })
  let failures = 0
  const url = `http://127.0.0.1:${await freePort()}`
  const verifier = followingVerifier(
    t,
    { url },
    { revocations: { url, headers: {}, onError: () => failures++ } },
  )
  t.equal(await codeOf(verifier.assertNotRevoked({})), 'revocations-unknown')
  await until('it has failed again and again', () => failures > 8)
  // The first is that of the request.
  const [, ...waited] = pauses().flatMap(({ args: [work, ms] }) =>
    work.name === 'end' ? Math.round(ms ?? 0) : [],
  )
  t.strictSame(waited.slice(0, 8), [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
  await t.rejects(verifier.assertNotRevoked({}), { cause: { message: 'fetch failed' } }, 'it says why')
})

t.test('readers follow a reload and a new signing key, and hold up no shutdown', async (t) => {
  const { gateway, verifier, created, assertionOf } = await startFollowing(t, {
    gateway: { config: { ...feedConfig, shutdown: { drain: '10s' } } },
  })
  const key = { SecretKey: created.secretKey }
  const first = await assertionOf(key)
  t.equal(await codeOf(verifier.verify(first)), 'verified')
  await reloadWith(gateway, { tokens: { ...feedConfig.tokens, accessLifetime: '5m' } })
  await gateway.operate(({ accounts }) => accounts.update(created.account.id, { role: 'User' }))
  t.ok((await untilCode(verifier, first, 'revoked')) < 1_500, 'by the feed of the new config')
  const second = await assertionOf(key)
  t.equal(await codeOf(verifier.verify(second)), 'verified')
  const [signer] = await gateway.operate(({ signingKeys }) => signingKeys.list())
  await gateway.operate(({ signingKeys }) => signingKeys.rotate('now'))
  await gateway.operate(({ signingKeys }) => signingKeys.retire(String(signer?.kid)))
  await untilCode(verifier, second, 'assertion-invalid')
  t.equal(await codeOf(verifier.verify(await assertionOf(key))), 'verified', 'with the new key')
  const begunAt = performance.now()
  t.ok(await gateway.shutDown(), 'it need not cut off its readers')
  t.ok(performance.now() - begunAt < 5_000)
})

t.test(
  'the example of a backend that follows revocations does, and the page shows it as it is',
  async (t) => {
    const file = 'examples/verify/follow-revocations.mjs'
    t.ok(
      readFileSync('docs/library-verify.md', 'utf8').includes(
        `\`\`\`js\n${readFileSync(file, 'utf8')}\`\`\``,
      ),
    )
    const [port, gatewayPort] = [await freePort(), await freePort()]
    const issuer = `http://localhost:${gatewayPort}`
    const gateway = await startGateway(t, {
      config: {
        ...feedConfig,
        publicUrl: issuer,
        listen: { port: gatewayPort, host: 'localhost' },
        upstreams: { orders: { targets: [{ url: `http://127.0.0.1:${port}` }] } },
        routes: [{ name: 'orders', path: '/orders', auth: 'any', upstream: 'orders' }],
      },
    })
    const reader = await gateway.createAccount({ role: 'Admin' })
    const created = await gateway.createAccount({ role: 'Editor' })
    const child = spawn(process.execPath, ['-C', 'gatehouse-source', file, issuer, String(port)], {
      env: { ...process.env, GATEWAY_KEY: reader.secretKey },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.teardown(() => child.kill())
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    await until('it listens', () => output.includes('ready'))
    const response = await fetch(`${gateway.url}/orders`, { headers: { SecretKey: created.secretKey } })
    t.strictSame(await response.json(), { id: created.account.id, role: 'Editor' })
    t.match(output, 'revocations: current')
  },
)
