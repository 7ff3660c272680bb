import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { assertProgram } from '../setup/missing-program.ts'
import { until } from '../setup/net.ts'
import { program, run, runProgram, type Serving, serve, tempFolder } from './run.ts'
import { createWorkspace, sealingKey, type Workspace } from './workspace.ts'

// slow: starts the demo again and again

const freePorts = ['--set', 'listen.port=0', '--set', 'ops.port=0']
const shipped = readFileSync('config/gateway.yaml')

/** A folder with the shipped config, where `npm start` finds it: nothing has run there yet. */
function freshPlace(t: Test): Workspace {
  const { folder, config } = createWorkspace(t, {}, { 'config/gateway.yaml': shipped })
  const inFolder = { cwd: folder }
  return {
    folder,
    config,
    run: (...args) => run(t, args, inFolder),
    runWith: (input, ...args) => run(t, args, { ...inFolder, input }),
    runProgram: (...args) => runProgram(t, args, inFolder),
  }
}

/** Runs the demo until it exits. @returns its standard output */
async function demo(t: Test, folder: string, during: (gateway: Serving) => Promise<void> = async () => {}) {
  const gateway = await serve(t, ['--demo', ...freePorts], { cwd: folder })
  await during(gateway)
  gateway.child.kill('SIGTERM')
  const { status, stdout, stderr } = await gateway.ended
  t.equal(status, 0)
  t.equal(stderr, '')
  return stdout
}

t.test(
  'serve --demo creates a first Admin on an empty store, and its curl lines work as printed',
  async (t) => {
    const { folder, run } = freshPlace(t)
    const output = await demo(t, folder, async ({ output }) => {
      const hasAll = () => (/Authorization: Bearer/.test(output.stdout) ? output.stdout : undefined)
      const lines = (await until('all lines are there', hasAll))
        .split('\n')
        .filter((line) => line.startsWith('curl '))
      t.equal(lines.length, 4)
      const answers = lines.map((line) => pasteIntoBash(line, folder))
      t.match(answers[0], /^HTTP\/1\.1 401 [\s\S]*WWW-Authenticate: [\s\S]*"code":"credentials-missing"/i)
      t.match(JSON.parse(answers[1] ?? ''), { url: '/hello', headers: { 'x-user-role': 'Admin' } })
      t.match(JSON.parse(answers[2] ?? ''), { Email: 'admin@localhost', Role: 'Admin', IsVerified: true })
      t.match(JSON.parse(answers[3] ?? ''), { url: '/hello', headers: { 'x-user-role': 'Admin' } })
      const atOnce = pasteIntoBash(lines.join('\n\n'), folder)
      t.equal(atOnce.match(/"x-user-role": "Admin"/g)?.length, 2, 'also pasted all at once')
    })
    t.match((await run('accounts', 'list', '--json')).json(), [{ email: 'admin@localhost', role: 'Admin' }])
    const [secretKey = ''] = /gate_sk_\w+/.exec(output) ?? []
    t.match((await run('keys', 'show', 'admin@localhost', '--json')).json(), { secretKey })
    const log = output.split('\n').filter((line) => line.startsWith('{'))
    t.ok(log.length >= 4, 'the requests are in the log')
    t.notMatch(log.join('\n'), /gate_sk_|gate_ak_|eyJ/, 'the keys and tokens are not')
  },
)

t.test(
  'serve --demo prints keys once: a second start shows none, and creates no other account',
  async (t) => {
    const { folder, run } = freshPlace(t)
    const first = await demo(t, folder)
    t.match(first, /gate_sk_\w+[\s\S]*gate_ak_\w+/)
    t.match(first, /^http:\/\/127\.0\.0\.1:\d+\/portal\/setup#gsl_[0-9A-Za-z]{16}_[0-9A-Za-z]{43}$/m)
    const accounts = await run('accounts', 'list', '--json')
    const again = await demo(t, folder)
    t.notMatch(again, /gate_sk_|gate_ak_|gsl_|curl/)
    t.match(again, /accounts setup-link admin@localhost/)
    t.match(again, /Gatehouse is running at http:\/\/127\.0\.0\.1:\d+/)
    t.equal((await run('accounts', 'list', '--json')).stdout, accounts.stdout)
  },
)

t.test('the command that a later demo start names for the keys reveals keys', async (t) => {
  const { folder, run } = freshPlace(t)
  await run('accounts', 'create', '--email', 'ada@example.com')
  const [, command] = /gatehouse(?: --)? (keys show .+)/.exec(await demo(t, folder)) ?? []
  if (command !== undefined)
    t.match(await run(...command.trim().split(' ')), { status: 0, stdout: /gate_sk_/ })
  t.match(await run('accounts', 'list', '--json'), { stdout: /ada@example\.com/ })
})

t.test('the command shown for the keys can be pasted as is, with another config too', async (t) => {
  const { folder } = createWorkspace(t, {}, { "ada's config.yaml": shipped })
  const settings = ['--set', 'store.sqlite.path=other data.db', '--set', 'keys.sealingKey.file=other.key']
  const args = ['--demo', '--config', "ada's config.yaml", ...settings, ...freePorts]
  for (const isFirst of [true, false]) {
    const gateway = await serve(t, args, { cwd: folder })
    gateway.child.kill('SIGTERM')
    const { stdout } = await gateway.ended
    t.match(stdout, 'Gatehouse is running at')
    const [, command] = /npm run -s gatehouse -- (.+)/.exec(stdout) ?? []
    if (isFirst) t.match(stdout, /gate_sk_/)
    else t.match(pasteIntoBash(`${process.execPath} ${program} ${command}`, folder), /gate_sk_/)
  }
})

t.test(
  'without a config serve --demo uses the shipped one, and keeps its data in the current folder',
  async (t) => {
    const folder = tempFolder(t)
    const output = await demo(t, folder)
    t.match(output, /gate_sk_\w+/)
    t.strictSame(
      readdirSync(join(folder, 'data/demo'))
        .filter((name) => !/-(?:wal|shm)$/.test(name))
        .toSorted(),
      ['gatehouse.db', 'sealing.key'],
    )
    const [, command] = /npm run -s gatehouse -- (.+)/.exec(await demo(t, folder)) ?? []
    t.match(pasteIntoBash(`${process.execPath} ${program} ${command}`, folder), /gate_sk_/)
  },
)

t.test('serve --demo runs without its Redis, and says how to create an account', async (t) => {
  const store = { driver: 'redis', redis: { url: 'redis://127.0.0.1:1' } }
  const { config } = createWorkspace(t, { store }, { 'data/sealing.key': sealingKey })
  const gateway = await serve(t, ['--demo', '--config', config])
  t.equal((await fetch(`${gateway.opsUrl}/readyz`)).status, 503)
  await until('it says how', () => gateway.output.stdout.includes('accounts create') || undefined)
  gateway.child.kill('SIGTERM')
  const { status, stdout } = await gateway.ended
  t.equal(status, 0)
  t.match(stdout, `npm run -s gatehouse -- accounts create --email admin@localhost --config ${config}\n`)
})

function pasteIntoBash(lines: string, cwd: string): string {
  assertProgram('bash')
  assertProgram('curl')
  const env = { PATH: process.env.PATH }
  const { status, stdout, stderr } = spawnSync('bash', ['--norc'], {
    input: `${lines}\n`,
    cwd,
    env,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${lines}\n${stderr}`)
  return stdout
}
