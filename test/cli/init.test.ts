import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startOnTerminal } from '../setup/pty.ts'
import { startRedis } from '../setup/redis.ts'
import { program, run, serve, tempFolder } from './run.ts'

const upstream = 'http://127.0.0.1:3000'

t.test('init with only an upstream writes a config that check accepts and serve runs', async (t) => {
  const cwd = tempFolder(t)
  const backend = await startBackend(t)
  const { status, stdout, stderr } = await run(t, ['init', '--upstream', backend.url], { cwd })
  t.equal(status, 0)
  t.equal(stderr, '')
  t.match(stdout, /^Written: config\/gateway\.yaml$/m)
  t.match(stdout, /check --config config\/gateway\.yaml$/m)
  t.match(await run(t, ['check'], { cwd }), {
    status: 0,
    stderr: '',
    stdout: /is valid: 1 route, 1 upstream/,
  })
  const named = [...readFileSync(join(cwd, 'config/gateway.yaml'), 'utf8').matchAll(/: gatehouse (.+)$/gm)]
  t.strictSame(
    named.map(([, command]) => command),
    ['check', 'config schema'],
  )
  t.equal((await run(t, ['config', 'schema'], { cwd })).status, 0, 'it needs no page that is elsewhere')
  const created = await run(t, ['accounts', 'create', '--email', 'ada@example.com', '--json'], { cwd })
  const { secretKey } = created.json() as { readonly secretKey: string }
  const { url } = await serve(t, ['--set', 'listen.port=0', '--set', 'ops.port=0'], { cwd })
  t.equal((await fetch(`${url}/hello`)).status, 401)
  t.equal((await fetch(`${url}/hello`, { headers: { SecretKey: secretKey } })).status, 200)
  t.ok(existsSync(join(cwd, 'data/gatehouse.db')), 'the data is beside the folder of the config')
})

t.test('init writes what its options say, and Redis gets a private sealing key', async (t) => {
  const cwd = tempFolder(t)
  const { url } = await startRedis(t)
  const args = [
    ...[
      '--upstream',
      upstream,
      '--path',
      '/orders',
      '--auth',
      'bearer',
      '--host',
      '0.0.0.0',
      '--port',
      '9000',
    ],
    ...['--public-url', 'https://api.example.com', '--store', 'redis', '--redis-url', url],
  ]
  const outcome = await run(t, ['init', ...args, '--config', 'my.yaml', '--json'], { cwd })
  t.match(outcome, { status: 0 })
  t.match(outcome.json(), { file: 'my.yaml', sealingKeyFile: join(cwd, 'data/sealing.key') })
  t.equal(statSync(join(cwd, 'data/sealing.key')).mode & 0o777, 0o600)
  const shown = (await run(t, ['config', 'show', '--config', 'my.yaml', '--json'], { cwd })).json()
  const values = Object.fromEntries(
    (shown as readonly { path: string; value: unknown }[]).map(({ path, value }) => [path, value]),
  )
  t.match(values, {
    publicUrl: 'https://api.example.com',
    'listen.host': '0.0.0.0',
    'listen.port': 9000,
    'routes[0].path': '/orders',
    'routes[0].auth': 'bearer',
    'store.driver': 'redis',
  })
  const create = ['accounts', 'create', '--email', 'ada@example.com', '--config', 'my.yaml']
  t.match(await run(t, create, { cwd }), { status: 0 })
})

t.test('init says how to call the route, by the credential that it takes', async (t) => {
  const url = 'http://localhost:8080/orders'
  const calls = {
    any: [`  curl -H 'SecretKey: gate_sk_…' ${url}`],
    bearer: [
      `  curl -H 'Content-Type: application/json' -d '{"SecretKey":"gate_sk_…","APIKey":"gate_ak_…"}' http://localhost:8080/api/v1/accounts/access-token`,
      `  curl -H 'Authorization: Bearer eyJ…' ${url}`,
    ],
    none: [`  curl ${url}`],
  }
  for (const [auth, expected] of Object.entries(calls)) {
    const args = ['init', '--upstream', upstream, '--path', '/orders', '--auth', auth]
    const { stdout } = await run(t, args, { cwd: tempFolder(t) })
    const shown = stdout.split('\n').filter((line) => line.startsWith('  curl'))
    t.strictSame(shown, expected, auth)
    t.equal(stdout.includes('the secret key'), auth === 'any')
  }
})

t.test('init overwrites no file, except with --force', async (t) => {
  const cwd = tempFolder(t)
  writeFileSync(join(cwd, 'my.yaml'), 'mine\n')
  const args = ['init', '--upstream', upstream, '--config', 'my.yaml']
  t.match(await run(t, args, { cwd }), { status: 1, stderr: /my\.yaml exists already\n.*--force/ })
  t.equal(readFileSync(join(cwd, 'my.yaml'), 'utf8'), 'mine\n')
  t.match(await run(t, [...args, '--force'], { cwd }), { status: 0 })
  t.match(await run(t, ['check', '--config', 'my.yaml'], { cwd }), { status: 0 })
})

t.test('init writes nothing that check would reject, and names the options at fault', async (t) => {
  const cwd = tempFolder(t)
  const wrong = [
    ...['--upstream', '127.0.0.1:3000', '--path', 'orders', '--auth', 'maybe', '--port', '99999'],
    ...['--store', 'mysql'],
  ]
  const { status, stdout, stderr } = await run(t, ['init', ...wrong], { cwd })
  t.equal(status, 1)
  t.equal(stdout, '')
  for (const option of ['--upstream', '--path', '--auth', '--port', '--store']) {
    t.match(stderr, new RegExp(`^ {2}${option}: `, 'm'))
  }
  t.notMatch(stderr, /--public-url/, 'what was not given is not blamed')
  t.notOk(existsSync(join(cwd, 'config')))
  t.notOk(existsSync(join(cwd, 'data')))
})

t.test('init without an upstream is a usage error where nobody can be asked', async (t) => {
  const cwd = tempFolder(t)
  t.match(await run(t, ['init'], { cwd }), { status: 2, stderr: /--upstream is missing/ })
  t.notOk(existsSync(join(cwd, 'config')))
})

t.test('init takes a URL of Redis only with the store that uses it', async (t) => {
  const cwd = tempFolder(t)
  for (const store of [[], ['--store', 'sqlite']]) {
    const args = ['init', '--upstream', upstream, ...store, '--redis-url', 'redis://127.0.0.1:6379']
    t.match(await run(t, args, { cwd }), { status: 2, stderr: /--redis-url needs --store redis/ })
  }
  t.notOk(existsSync(join(cwd, 'config')))
})

t.test('init takes no --set, which would change nothing of what it writes', async (t) => {
  const cwd = tempFolder(t)
  const args = ['init', '--upstream', upstream, '--set', 'listen.port=99']
  t.match(await run(t, args, { cwd }), {
    status: 2,
    stdout: '',
    stderr: /^gatehouse init: --set changes nothing/,
  })
  t.notOk(existsSync(join(cwd, 'config')))
})

t.test('init with any free port needs the URL that clients use', async (t) => {
  const cwd = tempFolder(t)
  const args = ['init', '--upstream', upstream, '--port', '0']
  t.match(await run(t, args, { cwd }), {
    status: 2,
    stderr: /--public-url is missing: no URL follows from --port 0, any free port/,
  })
  const wrong = await run(t, [...args, '--public-url', 'http://localhost:0'], { cwd })
  t.match(wrong, { status: 1, stderr: /^ {2}--public-url: must not have port 0/m })
  t.notOk(existsSync(join(cwd, 'config')))
  const { status, stdout } = await run(t, [...args, '--public-url', 'https://api.example.com'], { cwd })
  t.equal(status, 0)
  t.match(stdout, / https:\/\/api\.example\.com\/$/m)
})

t.test('init warns of a route that it makes public, as check does', async (t) => {
  const cwd = tempFolder(t)
  const outcome = await run(t, ['init', '--upstream', upstream, '--auth', 'none'], { cwd })
  t.match(outcome, { status: 0, stderr: /^warning: .*routes\[0\]/ })
})

t.test('init on a terminal asks for what is not given, and asks again after a wrong answer', async (t) => {
  const cwd = tempFolder(t)
  const terminal = startOnTerminal(t, [process.execPath, program, 'init', '--host', '0.0.0.0'], { cwd })
  await terminal.shows(/backend listen\? /)
  terminal.type('\n')
  await terminal.shows(/an answer is needed/)
  await terminal.shows(/backend listen\? /)
  terminal.type('localhost:3000\n')
  await terminal.shows(/must be a URL/)
  await terminal.shows(/backend listen\? /)
  terminal.type(`${upstream}\n`)
  await terminal.shows(/path prefix.*\[\/\] /)
  terminal.type('/orders\n')
  await terminal.shows(/authenticate.*\[any\] /)
  terminal.type('\n')
  await terminal.shows(/port\? \[8080\] /)
  terminal.type('8181\n')
  await terminal.shows(/URL do clients use\? \[http:\/\/localhost:8181\] /)
  terminal.type('\n')
  await terminal.shows(/accounts kept.*\[sqlite\] /)
  terminal.type('\n')
  await terminal.shows(/Written: config\/gateway\.yaml/)
  t.equal(await terminal.ended, 0)
  t.notMatch(terminal.screen(), /Which address|Redis listen/, 'an option answers, and Redis is not used')
  const text = readFileSync(join(cwd, 'config/gateway.yaml'), 'utf8')
  t.match(text, /host: 0\.0\.0\.0\n +port: 8181/)
  t.match(await run(t, ['check'], { cwd }), { status: 0 })
})

t.test('init --yes on a terminal asks nothing', async (t) => {
  const cwd = tempFolder(t)
  const words = [process.execPath, program, 'init', '--upstream', upstream, '--yes']
  const terminal = startOnTerminal(t, words, { cwd })
  t.equal(await terminal.ended, 0)
  t.notMatch(terminal.screen(), /\? /)
})
