import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { startServer } from '../../setup/backend.ts'
import { startGateway } from '../../setup/gateway.ts'
import { freePort, until } from '../../setup/net.ts'

// needs: go, python3-fastapi, python3-jwt, python3-uvicorn

const node = [process.execPath, '-C', 'gatehouse-source'] as const

/** Builds the Go example. */
function buildGo(t: Test, source: string): string {
  const folder = folderFor(t)
  const env = {
    ...process.env,
    GOCACHE: join(folder, 'cache'),
    GOFLAGS: '-mod=mod',
    GOPATH: join(folder, 'path'),
  }
  execFileSync('go', ['build', '-o', join(folder, 'backend'), source], { env })
  return join(folder, 'backend')
}

function folderFor(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-example-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

interface Example {
  readonly source: string
  readonly commandOf: (t: Test, source: string) => readonly string[]
}

const fastApi: Example = {
  source: 'examples/verify/fastapi_app.py',
  // Debian's, which has the packages.
  commandOf: (_t, source) => ['/usr/bin/python3', source],
}

/** Those that keep the keys themselves. */
const ownKeys: Readonly<Record<string, Example>> = {
  FastAPI: fastApi,
  Go: { source: 'examples/verify/main.go', commandOf: (t, source) => [buildGo(t, source)] },
}

const backends: Readonly<Record<string, Example>> = {
  Express: { source: 'examples/verify/express.mjs', commandOf: (_t, source) => [...node, source] },
  Fastify: { source: 'examples/verify/fastify.mjs', commandOf: (_t, source) => [...node, source] },
  ...ownKeys,
}

/** Starts a backend. @returns what asks it, without a gateway */
async function startExample(t: Test, { commandOf, source }: Example, issuer: string, port: number) {
  const [program = '', ...args] = commandOf(t, source)
  const child = spawn(program, [...args, issuer, String(port)], { stdio: ['ignore', 'ignore', 'inherit'] })
  t.teardown(() => child.kill())
  const direct = (headers: Readonly<Record<string, string>>) =>
    fetch(`http://127.0.0.1:${port}/orders`, { headers })
  await until('the backend answers', () =>
    direct({}).then(
      () => true,
      () => undefined,
    ),
  )
  return direct
}

for (const [name, example] of Object.entries(backends)) {
  t.test(
    `the example of a backend on ${name} takes assertions of the gateway, and nothing else`,
    async (t) => {
      const port = await freePort()
      const gatewayPort = await freePort()
      const url = `http://127.0.0.1:${port}`
      const issuer = `http://localhost:${gatewayPort}`
      const upstreams = { orders: { targets: [{ url }] }, invoices: { targets: [{ url }] } }
      const route = { auth: 'any', upstream: 'orders' }
      const gateway = await startGateway(t, {
        config: {
          publicUrl: issuer,
          listen: { port: gatewayPort, host: 'localhost' },
          upstreams,
          routes: [
            { ...route, name: 'orders', path: '/orders' },
            { ...route, name: 'invoices', path: '/invoices', upstream: 'invoices' },
          ],
          identity: { assertion: { enabled: true } },
        },
      })
      const direct = await startExample(t, example, issuer, port)
      const created = await gateway.createAccount({ role: 'Editor' })
      const response = await fetch(`${gateway.url}/orders`, { headers: { SecretKey: created.secretKey } })
      t.strictSame(await response.json(), { id: created.account.id, role: 'Editor' })
      t.equal((await direct({})).status, 401)
      t.equal((await direct({ 'X-User-Id': created.account.id })).status, 401)
      const { JwtToken } = await gateway.tokens(created)
      t.equal((await direct({ 'X-Gatehouse-Assertion': JwtToken })).status, 401, 'an access token')
      t.equal((await direct({ 'X-Gatehouse-Assertion': 'a.b.c' })).status, 401, 'no token')
    },
  )
}

/** The keys of a gateway, of which there is one, `known`; `sign` can also name another, which is unknown. */
async function makeKeys() {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'known', alg: 'ES256', use: 'sig' }]
  const sign = (issuer: string, kid: string) =>
    new SignJWT({ role: 'Editor' })
      .setProtectedHeader({ alg: 'ES256', typ: 'gatehouse-assertion+jwt', kid })
      .setIssuer(issuer)
      .setAudience('orders')
      .setSubject('a1')
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(privateKey)
  return { keys, sign }
}

/** An example as it is, but for a time, which is 0 in it. */
function withoutWaiting(t: Test, example: Example, time: RegExp): Example {
  const source = join(folderFor(t), basename(example.source))
  writeFileSync(source, readFileSync(example.source, 'utf8').replace(time, '0'))
  return { ...example, source }
}

for (const [name, example] of Object.entries(ownKeys)) {
  t.test(`on ${name} invented keys do not make it read those of a gateway that fails`, async (t) => {
    const { sign } = await makeKeys()
    let reads = 0
    const issuer = await startServer(t, (_request, response) => {
      reads++
      response.writeHead(500).end()
    })
    const direct = await startExample(t, example, issuer, await freePort())
    for (const kid of ['one', 'another', 'one'])
      t.equal((await direct({ 'X-Gatehouse-Assertion': await sign(issuer, kid) })).status, 401)
    t.equal(reads, 1)
  })

  t.test(`on ${name} callers with a known key do not wait while the gateway is silent`, async (t) => {
    const { keys, sign } = await makeKeys()
    const reads: ServerResponse[] = []
    const issuer = await startServer(t, (_request, response) => {
      if (reads.push(response) === 1) response.end(JSON.stringify({ keys }))
    })
    const impatient = withoutWaiting(t, example, /30\*time\.Second|(?<=\()30(?=\))/)
    const direct = await startExample(t, impatient, issuer, await freePort())
    const known = { 'X-Gatehouse-Assertion': await sign(issuer, 'known') }
    t.equal((await direct(known)).status, 200)
    const refused: number[] = []
    const invented = { 'X-Gatehouse-Assertion': await sign(issuer, 'invented') }
    const waiting = direct(invented).then(({ status }) => refused.push(status))
    await until('it reads the keys again', () => reads.length > 1)
    t.equal((await direct(known)).status, 200)
    t.strictSame(refused, [], 'while it reads')
    reads.at(-1)?.writeHead(500).end()
    await waiting
    t.strictSame([refused, reads.length], [[401], 2])
    t.equal((await direct(known)).status, 200, 'the known keys stay')
  })
}

t.test('on FastAPI a key is refused some time after the gateway has retired it', async (t) => {
  const [{ keys, sign }, other] = [await makeKeys(), await makeKeys()]
  let reads = 0
  const issuer = await startServer(t, (_request, response) => {
    const served = reads++ === 0 ? keys : other.keys.map((key) => ({ ...key, kid: 'other' }))
    response.end(JSON.stringify({ keys: served }))
  })
  const impatient = withoutWaiting(t, fastApi, /\b300\b/g)
  const direct = await startExample(t, impatient, issuer, await freePort())
  const assertion = { 'X-Gatehouse-Assertion': await sign(issuer, 'known') }
  t.equal((await direct(assertion)).status, 200)
  await until('it is refused', async () => (await direct(assertion)).status === 401)
})

t.test('the pages show the examples as they are', async (t) => {
  for (const [page, file] of [
    ['docs/library-verify.md', 'examples/verify/express.mjs'],
    ['docs/library-client.md', 'examples/client/report.mjs'],
  ] as const)
    t.ok(readFileSync(page, 'utf8').includes(`\`\`\`js\n${readFileSync(file, 'utf8')}\`\`\``), file)
})

t.test('the example of a client calls a route', async (t) => {
  const gateway = await startGateway(t, { config: { routes: [], upstreams: {} } })
  const { secretKey, apiKey } = await gateway.createAccount()
  const env = {
    ...process.env,
    GATEWAY_URL: gateway.url,
    GATEWAY_SECRET_KEY: secretKey,
    GATEWAY_API_KEY: apiKey,
  }
  const child = spawn(process.execPath, ['-C', 'gatehouse-source', 'examples/client/report.mjs'], { env })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  await until('its answer', () => output.includes('\n'))
  t.match(output, /^404 .*route-not-found/, 'it has got a token, and asks for a path without a route')
})
