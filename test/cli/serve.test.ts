import { existsSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { accessTokenPath } from '../gateway/support/ask.ts'
import { startServer } from '../setup/backend.ts'
import { freePort, until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { serve, start, textOf } from './run.ts'
import { createWorkspace } from './workspace.ts'

// slow: starts the gateway again and again

t.test(
  'the ready file has both addresses and the process, and appears whole once requests are taken',
  async (t) => {
    const { config, folder } = createWorkspace(t)
    const readyFile = join(folder, 'ready.json')
    const { child, ended } = start(t, ['serve', '--config', config, '--ready-file', readyFile])
    const text = await until('it appears', () => textOf(readyFile))
    const ready = JSON.parse(text) as { readonly url: string; readonly opsUrl: string; readonly pid: number }
    t.strictSame(Object.keys(ready), ['url', 'opsUrl', 'pid'])
    t.equal(ready.pid, child.pid)
    t.match(ready.url, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
    t.match(ready.opsUrl, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
    t.equal((await fetch(`${ready.url}/x`)).status, 401)
    t.equal((await fetch(`${ready.opsUrl}/readyz`)).status, 200)
    child.kill('SIGTERM')
    t.equal((await ended).status, 0)
    t.notOk(existsSync(readyFile), 'it is gone with the gateway')
  },
)

t.test('port 0 takes any free port, and the log names it', async (t) => {
  const { config } = createWorkspace(t)
  const gateways = [await serve(t, ['--config', config]), await serve(t, ['--config', config])]
  const [first, second] = gateways.map(({ url }) => new URL(url).port)
  t.not(first, second)
  for (const { url, opsUrl, child, output } of gateways) {
    await until('the log names the port', () => output.stdout.includes('"listening"') || undefined)
    const [line = ''] = output.stdout.split('\n')
    t.match(JSON.parse(line), {
      level: 'info',
      msg: 'listening',
      version: /^\d+\.\d+\.\d+/,
      store: 'sqlite',
      workers: 1,
      url,
      opsUrl,
      pid: child.pid,
    })
  }
})

t.test('serve listens on the configured port', async (t) => {
  const { config } = createWorkspace(t)
  const [port, opsPort] = [await freePort(), await freePort()]
  const settings = ['--set', `listen.port=${port}`, '--set', `ops.port=${opsPort}`]
  t.match(await serve(t, ['--config', config, ...settings]), {
    url: `http://127.0.0.1:${port}`,
    opsUrl: `http://127.0.0.1:${opsPort}`,
  })
})

t.test('a wildcard address is logged as a URL that can be called', async (t) => {
  const { config } = createWorkspace(t)
  for (const [host, url] of [
    ['0.0.0.0', /^http:\/\/127\.0\.0\.1:\d+$/],
    ['localhost', /^http:\/\/localhost:\d+$/],
  ] as const) {
    const gateway = await serve(t, ['--config', config, '--set', `listen.host=${host}`])
    const logged = await until('the log names the port', () => listening(gateway.output.stdout))
    t.equal(logged.address, `${host}:${new URL(gateway.url).port}`, 'the log names where it listens')
    t.equal(logged.opsAddress, `127.0.0.1:${new URL(gateway.opsUrl).port}`)
    t.match(gateway.url, url)
    t.equal((await fetch(`${gateway.url}/x`)).status, 401)
  }
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`${signal} ends serve with status 0, and nothing on standard error`, async (t) => {
    const { config } = createWorkspace(t)
    const gateway = await serve(t, ['--config', config])
    await fetch(`${gateway.url}/x`)
    gateway.child.kill(signal)
    const { status, stdout, stderr } = await gateway.ended
    t.equal(status, 0)
    t.equal(stderr, '')
    const messages = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly msg: string })
    t.match(messages.at(0), { msg: 'listening' })
    t.match(messages.at(-1), { msg: 'stopped', isClean: true })
  })
}

t.test('serve exits with status 2 if it had to abort requests', async (t) => {
  const { config, isAsked } = await withSlowBackend(t, '100ms')
  const gateway = await serve(t, ['--config', config])
  const answer = fetch(`${gateway.url}/`).then(
    ({ status }) => status,
    () => 'aborted',
  )
  await until('the backend has it', () => isAsked() || undefined)
  gateway.child.kill('SIGTERM')
  t.equal((await gateway.ended).status, 2)
  t.equal(await answer, 503)
})

t.test(
  'a body that never completes does not delay the stop of serve once its request was answered 503',
  async (t) => {
    const { config } = createWorkspace(t, {
      listen: { port: 0, requestTimeout: '60s' },
      shutdown: { drain: '100ms' },
    })
    const gateway = await serve(t, ['--config', config])
    const client = await connectRaw(t, gateway.url)
    const fields = 'Host: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\nExpect: 100-continue'
    client.send(`POST ${accessTokenPath} HTTP/1.1\r\n${fields}\r\n\r\n`)
    t.equal((await client.response()).status, 100, 'its body is waited for')
    gateway.child.kill('SIGTERM')
    t.equal((await client.response()).status, 503)
    const refusedAtMs = performance.now()
    t.equal((await gateway.ended).status, 2)
    t.ok(performance.now() - refusedAtMs < 20_000, 'long before the time for the body is over')
  },
)

t.test('a second signal ends serve at once with status 2', async (t) => {
  const { config, isAsked } = await withSlowBackend(t, '1h')
  const gateway = await serve(t, ['--config', config])
  const { hostname, port } = new URL(gateway.url)
  const client = connect(Number(port), hostname)
  client.on('error', () => {})
  t.teardown(() => client.destroy())
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await until('the backend has it', () => isAsked() || undefined)
  gateway.child.kill('SIGTERM')
  await until('it is stopping', () => gateway.output.stdout.includes('"stopping"') || undefined)
  // There must be half a second between them.
  await until('it ends', () => !gateway.child.kill('SIGTERM') || gateway.child.exitCode !== null)
  t.equal((await gateway.ended).status, 2)
  t.notOk(existsSync(gateway.readyFile), 'its ready file does not outlive it')
})

t.test('options of the file can be overridden by flag and environment', async (t) => {
  const { config, folder } = createWorkspace(t)
  const env = { GATEHOUSE_CONFIG: config, GATEHOUSE__LOG__ACCESS: 'false' }
  const gateway = await serve(t, ['--set', 'store.sqlite.path=elsewhere.db'], { env })
  await fetch(`${gateway.url}/x`)
  gateway.child.kill('SIGTERM')
  t.notMatch((await gateway.ended).stdout, /"status"|"route"/)
  t.ok(statSync(join(folder, 'elsewhere.db')).isFile())
  t.notOk(existsSync(join(folder, 'data/gatehouse.db')))
})

t.test('serve without --demo creates no account and prints nothing but its log', async (t) => {
  const { config, run } = createWorkspace(t)
  const gateway = await serve(t, ['--config', config])
  t.equal((await run('accounts', 'list', '--json')).stdout, '[]\n')
  gateway.child.kill('SIGTERM')
  for (const line of (await gateway.ended).stdout.trimEnd().split('\n')) t.type(JSON.parse(line), 'object')
})

/** A config with a backend that never responds, and whether it has received a request. */
async function withSlowBackend(t: Parameters<typeof createWorkspace>[0], drain: string) {
  let asked = false
  const backend = await startServer(t, () => {
    asked = true
  })
  const { config } = createWorkspace(t, {
    upstreams: { backend: { targets: [{ url: backend }] } },
    routes: [{ name: 'all', path: '/', upstream: 'backend', auth: 'none' }],
    shutdown: { drain },
  })
  return { config, isAsked: () => asked }
}

/** The members of the "listening" log line, once it is written. */
function listening(log: string): Readonly<Record<string, unknown>> | undefined {
  const line = log.split('\n').find((text) => text.includes('"msg":"listening"'))
  return line === undefined ? undefined : JSON.parse(line)
}
