import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'
import { reloadWith } from './support/reload.ts'
import { startWebSocketBackend, upgradeLines } from './support/web-socket.ts'

const name = 'x-gatehouse-assertion'
const enabled = { identity: { assertion: { enabled: true } } }

function claimsOf(assertion: unknown) {
  return JSON.parse(Buffer.from(String(assertion).split('.')[1] ?? '', 'base64url').toString())
}

async function start(t: Test, config: Readonly<Record<string, unknown>> = enabled) {
  const { backend, gateway } = await startBoth(t, { config })
  const created = await gateway.createAccount({ role: 'Admin' })
  const { JwtToken } = await gateway.tokens(created)
  const key = `SecretKey: ${created.secretKey}`
  return { backend, gateway, created, key, bearer: `Authorization: Bearer ${JwtToken}` }
}

interface Example {
  callerOf(assertion?: string): Promise<Readonly<Record<string, unknown>>>
}

/** The lines of the manual that verify an assertion, for this gateway and an upstream. */
async function takeExample(t: Test, url: string, upstream: string): Promise<Example> {
  const manual = readFileSync('docs/operators/identity-for-backends.md', 'utf8')
  const [, code = ''] = /## Signed assertions for backends\n.*?```js\n(.*?)```/s.exec(manual) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-example-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, `${upstream}.mjs`)
  writeFileSync(file, code.replace('http://localhost:8080', url).replace("'orders'", `'${upstream}'`))
  return import(pathToFileURL(file).href)
}

t.test('the assertion verifies as the manual shows, and nothing else does', async (t) => {
  const { backend, gateway, created, key, bearer } = await start(t)
  // The issuer is publicUrl, which is where the JWKS is.
  await reloadWith(gateway, { publicUrl: gateway.url })
  const { JwtToken } = await gateway.tokens(created)
  const { callerOf } = await takeExample(t, gateway.url, 'backend')
  const about = { iss: gateway.url, aud: 'backend', sub: created.account.id, role: 'Admin' }

  t.equal((await ask(t, gateway.url, 'GET /any', [key])).status, 200)
  const ofKey = String(backend.last().headers[name])
  t.match(await callerOf(ofKey), { ...about, scheme: 'secretKey', sid: undefined })
  t.equal((await ask(t, gateway.url, 'GET /any', [`Authorization: Bearer ${JwtToken}`])).status, 200)
  const ofToken = String(backend.last().headers[name])
  t.match(await callerOf(ofToken), { ...about, scheme: 'bearer', sid: claimsOf(JwtToken).sid })

  await t.rejects(callerOf(JwtToken), 'an access token is none')
  await t.rejects(callerOf(bearer.slice('Authorization: Bearer '.length)), 'nor one of another issuer')
  const [header, payload = '', signature] = ofKey.split('.')
  const forged = Buffer.from(JSON.stringify({ ...claimsOf(ofKey), role: 'Root' })).toString('base64url')
  await t.rejects(callerOf(`${header}.${forged}.${signature}`))
  await t.rejects(callerOf(`${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`))
  for (const none of [undefined, '', 'none']) {
    const thrown: unknown = await callerOf(none).catch((error) => error)
    t.type(thrown, SyntaxError, 'a missing header is no fault of the code')
  }
  const other = await takeExample(t, gateway.url, 'other')
  await t.rejects(other.callerOf(ofKey), 'it is for one upstream alone')
})

t.test('an assertion is reused for a caller, set last, and no credential for the gateway', async (t) => {
  const { backend, gateway, key, bearer } = await start(t)
  for (const credential of [key, key, bearer, bearer]) await ask(t, gateway.url, 'GET /any', [credential])
  const [a, b, c, d] = backend.seen.map(({ headers }) => headers[name])
  t.equal(a, b)
  t.equal(c, d)
  t.not(a, c, 'a token is another caller than a key')
  t.equal(backend.last().rawHeaders.at(-2), 'X-Gatehouse-Assertion')
  const refused = await ask(t, gateway.url, 'GET /any', [`Authorization: Bearer ${a}`])
  assertProblem(t, refused, { status: 401, code: 'token-invalid' })
})

t.test("an unauthenticated request carries no assertion, not even the client's own", async (t) => {
  const { backend, gateway, key } = await start(t)
  const forged = ['X-Gatehouse-Assertion: a', 'x_gatehouse.assertion: b', 'Connection: X-Gatehouse-Assertion']
  for (const path of ['/public', '/optional']) {
    await ask(t, gateway.url, `GET ${path}`, forged)
    t.notMatch(backend.last().rawHeaders.join('\n'), /assertion/i, path)
  }
  await ask(t, gateway.url, 'GET /optional', [key, ...forged])
  const sent = backend
    .last()
    .rawHeaders.filter((_, at) => at % 2 === 0 && /assertion/i.test(backend.last().rawHeaders[at] ?? ''))
  t.strictSame(sent, ['X-Gatehouse-Assertion'])
  t.match(claimsOf(backend.last().headers[name]), { aud: 'backend', scheme: 'secretKey' })
})

t.test('without an assertion in the config its header is neither set nor passed', async (t) => {
  const { backend, gateway, key } = await start(t, { identity: { assertion: { header: 'X-Proof' } } })
  await ask(t, gateway.url, 'GET /any', [key, 'X-Proof: a', 'X_Proof: b', 'X-Gatehouse-Assertion: c'])
  t.notMatch(backend.last().rawHeaders.join('\n'), /proof|assertion/i)
  t.equal(
    (await reloadWith(gateway, { identity: { assertion: { enabled: true, header: 'X-Proof' } } })).code,
    200,
  )
  await ask(t, gateway.url, 'GET /any', [key, 'X-Proof: a'])
  t.match(claimsOf(backend.last().headers['x-proof']), { aud: 'backend' })
})

t.test('a changed role shows in the next assertion', async (t) => {
  const { backend, gateway, created, key } = await start(t)
  await ask(t, gateway.url, 'GET /any', [key])
  t.equal(claimsOf(backend.last().headers[name]).role, 'Admin')
  await gateway.createAccount({ role: 'Admin', email: 'other@example.com' })
  await gateway.operate(({ accounts }) => accounts.update(created.account.id, { role: 'User' }))
  for (const deadline = Date.now() + 5_000; Date.now() < deadline; ) {
    await ask(t, gateway.url, 'GET /any', [key])
    if (backend.last().headers['x-user-role'] === 'User') break
  }
  t.equal(backend.last().headers['x-user-role'], 'User')
  t.equal(claimsOf(backend.last().headers[name]).role, 'User', 'never one that says other than the headers')
})

t.test('an upgrade carries the assertion too', async (t) => {
  const backend = await startWebSocketBackend(t)
  const routes = [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'any', websocket: true }]
  const gateway = await startGateway(t, { backend: backend.url, config: { routes, ...enabled } })
  const { secretKey } = await gateway.createAccount()
  const client = await connectRaw(t, gateway.url)
  client.send(
    `${['GET /ws HTTP/1.1', 'Host: x', ...upgradeLines, `SecretKey: ${secretKey}`].join('\r\n')}\r\n\r\n`,
  )
  t.equal((await client.response()).status, 101)
  t.match(claimsOf(backend.upgrades.at(-1)?.headers[name]), { aud: 'backend' })
})
