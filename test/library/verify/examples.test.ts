import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startGateway } from '../../setup/gateway.ts'
import { freePort, until } from '../../setup/net.ts'

// needs: go, python3-fastapi, python3-jwt, python3-uvicorn

const node = [process.execPath, '-C', 'gatehouse-source'] as const

/** Builds the Go example. */
function buildGo(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-go-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const env = {
    ...process.env,
    GOCACHE: join(folder, 'cache'),
    GOFLAGS: '-mod=mod',
    GOPATH: join(folder, 'path'),
  }
  execFileSync('go', ['build', '-o', join(folder, 'backend'), 'examples/verify/main.go'], { env })
  return join(folder, 'backend')
}

const backends: Readonly<Record<string, (t: Test) => readonly string[]>> = {
  Express: () => [...node, 'examples/verify/express.mjs'],
  Fastify: () => [...node, 'examples/verify/fastify.mjs'],
  // Debian's, which has the packages.
  FastAPI: () => ['/usr/bin/python3', 'examples/verify/fastapi_app.py'],
  Go: (t) => [buildGo(t)],
}

for (const [name, commandOf] of Object.entries(backends)) {
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
      const [program = '', ...args] = commandOf(t)
      const child = spawn(program, [...args, issuer, String(port)], {
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      t.teardown(() => child.kill())
      const direct = (headers: Readonly<Record<string, string>>) => fetch(`${url}/orders`, { headers })
      await until('the backend answers', () =>
        direct({}).then(
          () => true,
          () => undefined,
        ),
      )
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
