import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { loadConfig } from '#config/load.ts'
import { sampleIntervalMs } from '#ops/metrics/process-metrics.ts'
import { createLog } from '#platform/log/log.ts'
import { openGateway } from '#runtime/gateway.ts'
import { startRedis } from '../setup/redis.ts'
import { run, serve } from './run.ts'
import { createWorkspace, sealingKey, type Workspace } from './workspace.ts'

const other = ['--set', 'keys.sealingKey.file=other.key']
const files = { 'other.key': sealingKey }

/** A workspace where a gateway has run: there is an encrypted signing key. */
async function usedPlace(t: Parameters<typeof createWorkspace>[0]): Promise<Workspace> {
  const used = createWorkspace(t, {}, files)
  await used.run('accounts', 'create', '--email', 'ada@example.com')
  await used.run('signing-keys', 'rotate')
  return used
}

t.test('the sealing key created first is kept', async (t) => {
  const { folder, run, runProgram } = createWorkspace(t)
  const commands = [
    ['accounts', 'list'],
    ['accounts', 'list'],
    ['signing-keys', 'list'],
  ]
  await Promise.all(commands.map((command) => runProgram(...command)))
  const key = readFileSync(join(folder, 'data/sealing.key'), 'utf8')
  t.equal(Buffer.from(key, 'base64').length, 32)
  await run('accounts', 'list')
  t.equal(readFileSync(join(folder, 'data/sealing.key'), 'utf8'), key)
})

t.test('a gateway does not start with a sealing key that does not open its signing keys', async (t) => {
  const { run } = await usedPlace(t)
  for (const args of [['serve'], ['signing-keys', 'rotate']]) {
    const { status, stdout, stderr } = await run(...args, ...other)
    t.equal(status, 1)
    t.equal(stdout, '')
    t.match(
      stderr,
      /^gatehouse: the signing key \S+ cannot be unsealed with this sealing key\n {2}Restore the previous sealing key/,
    )
  }
})

t.test('a gateway refused for its sealing key stops all its timers', async (t) => {
  const { config } = await usedPlace(t)
  const input = { file: config, settings: ['keys.sealingKey.file=other.key'], env: {} }
  const loaded = loadConfig(input)
  const log = createLog({ level: 'silent', stream: new PassThrough() })
  const begun = t.capture(globalThis, 'setInterval', setInterval)
  const ended = t.capture(globalThis, 'clearInterval', clearInterval)
  const opening = openGateway({ loaded, rereadConfig: () => loadConfig(input), log })
  await t.rejects(opening, /cannot be unsealed/)
  const stopped = new Set<unknown>(ended().map(({ args }) => args[0]))
  // The timer of the metrics library cannot be stopped; it keeps no process alive, and never fires.
  const ours = begun().filter(({ args }) => args[1] !== sampleIntervalMs)
  const timers = ours.flatMap((call) => ('returned' in call ? [call.returned] : []))
  t.not(timers.length, 0)
  t.ok(timers.every((timer) => stopped.has(timer)))
})

t.test('the remedy shown for a lost sealing key works', async (t) => {
  const { config, folder, run } = await usedPlace(t)
  let { stderr } = await run('signing-keys', 'rotate', ...other)
  // Each suggested command is run, until none is suggested.
  for (let step = 0; step < 6; step++) {
    const [, command] = /gatehouse (signing-keys (?:retire|rotate)[^\n.]*)/.exec(stderr) ?? []
    if (command === undefined) break
    const unusable = /the signing key (\S+) cannot be unsealed/.exec(stderr)?.[1] ?? ''
    const outcome = await run(...command.replace('KID', unusable).trim().split(' '), ...other)
    stderr = outcome.status === 0 ? (await run('signing-keys', 'rotate', ...other)).stderr : outcome.stderr
  }
  const gateway = await serve(t, ['--config', config, ...other], { cwd: folder })
  t.equal((await fetch(`${gateway.opsUrl}/readyz`)).status, 200)
})

t.test('no account is made with a sealing key that the gateway does not have', async (t) => {
  const { run } = await usedPlace(t)
  const { status, stdout } = await run('accounts', 'create', '--email', 'bob@example.com', ...other)
  t.equal(status, 1)
  t.equal(stdout, '')
})

t.test('no password is set with a sealing key that the gateway does not have', async (t) => {
  const { folder, run, runWith } = await usedPlace(t)
  const update = ['accounts', 'update', 'ada@example.com', '--first-name', 'Ada', '--password-stdin'] as const
  const key = join(folder, 'data/sealing.key')
  renameSync(key, `${key}.away`)
  const lost = await runWith('correct horse battery', ...update)
  t.match(lost, { status: 1, stdout: '', stderr: /cannot read the sealing key .*\n {2}Restore it/ })
  t.notOk(existsSync(key), 'and none is made')
  const wrong = await runWith('correct horse battery', ...update, ...other)
  t.match(wrong, { status: 1, stdout: '', stderr: /cannot be unsealed with this sealing key/ })
  renameSync(`${key}.away`, key)
  t.match(await run('accounts', 'show', 'ada@example.com'), { stdout: /Name +-\n/ }, 'nothing has changed')
  t.notMatch((await run('audit', 'list')).stdout, 'password-set')
  t.match(await runWith('correct horse battery', ...update), { status: 0 })
})

t.test('nothing makes a sealing key for accounts that have one, even before a gateway has run', async (t) => {
  const { folder, run } = createWorkspace(t)
  await run('accounts', 'create', '--email', 'ada@example.com')
  const key = join(folder, 'data/sealing.key')
  rmSync(key)
  for (const args of [
    ['accounts', 'create', '--email', 'bob@example.com'],
    ['keys', 'reset-secret', 'ada@example.com'],
    ['accounts', 'list'],
    ['sealing-key', 'rotate'],
    ['serve'],
  ])
    t.match(await run(...args), { status: 1, stdout: '', stderr: /cannot read the sealing key/ })
  t.notOk(existsSync(key))
})

t.test('a sealing key file without a key is refused by every command, and left as it is', async (t) => {
  const { folder, run } = createWorkspace(t, {}, { 'data/sealing.key': 'correct horse battery staple\n' })
  for (const args of [['accounts', 'list'], ['serve']]) {
    const { status, stderr } = await run(...args)
    t.equal(status, 1)
    t.match(stderr, /keys\.sealingKey: is not a sealing key: it must be 32 bytes.*openssl rand -base64 32/)
    t.notMatch(stderr, /horse/)
  }
  t.equal(readFileSync(join(folder, 'data/sealing.key'), 'utf8'), 'correct horse battery staple\n')
})

t.test('a sealing key that cannot be created is reported with path and option', async (t) => {
  const { folder, run } = createWorkspace(t, { keys: { sealingKey: { file: 'gateway.yaml/sealing.key' } } })
  const { status, stderr } = await run('accounts', 'list')
  t.equal(status, 1)
  t.match(stderr, `${folder}/gateway.yaml/sealing.key: not a directory`)
  t.match(stderr, 'keys.sealingKey')
})

t.test(
  'on Redis a gateway with another sealing key does not sign in the place of those with the right one',
  async (t) => {
    const { url } = await startRedis(t)
    const options = { store: { driver: 'redis', redis: { url } } }
    const { config, run: gatehouse } = createWorkspace(t, options, {
      ...files,
      'data/sealing.key': Buffer.alloc(32, 1).toString('hex'),
    })
    t.match(await gatehouse('signing-keys', 'rotate'), { status: 0 })
    const { status, stderr } = await run(t, ['signing-keys', 'rotate', '--config', config, ...other])
    t.equal(status, 1)
    t.match(stderr, /cannot be unsealed with this sealing key/)
  },
)

t.test('on Redis a gateway does not start with another sealing key, and leaves no key behind', async (t) => {
  const { url } = await startRedis(t)
  const options = { store: { driver: 'redis', redis: { url } } }
  const right = Buffer.alloc(32, 1).toString('hex')
  const { run: gatehouse } = createWorkspace(t, options, { ...files, 'data/sealing.key': right })
  await gatehouse('signing-keys', 'rotate')
  const list = async () => (await gatehouse('signing-keys', 'list', '--json')).json() as readonly unknown[]
  const before = await list()
  t.equal(before.length, 2)
  for (const algorithm of ['ES256', 'RS256']) {
    const { status, stderr } = await gatehouse('serve', ...other, '--set', `tokens.algorithm=${algorithm}`)
    t.equal(status, 1)
    t.match(
      stderr,
      /^gatehouse: the signing key \S+ cannot be unsealed with this sealing key\n {2}Restore the previous sealing key/,
    )
  }
  t.strictSame(await list(), before)
})
