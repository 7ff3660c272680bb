import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { openServiceManager, readServiceManager } from '#cli/service-manager.ts'
import { until } from '../setup/net.ts'
import { standStill } from '../setup/stand-still.ts'
import { serve, tempFolder } from './run.ts'
import { configOf, createWorkspace } from './workspace.ts'

// needs: python3

interface Message {
  /** On the monotonic clock of the system, in microseconds. */
  readonly at: number
  readonly fields: Readonly<Record<string, string>>
}

/** A service manager: a datagram socket, of another process, as Node has none. */
async function startManager(t: Test, name = 'notify') {
  const path = join(tempFolder(t), name)
  const program = `
import json, socket, sys, time
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(sys.argv[1])
print('{}', flush=True)
while True:
  text = manager.recv(65536).decode()
  fields = dict(line.split('=', 1) for line in text.strip().split('\\n'))
  print(json.dumps({ 'at': time.monotonic_ns() // 1000, 'fields': fields }), flush=True)
`
  const child = spawn('python3', ['-c', program, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  const lines = createInterface({ input: child.stdout })
  await once(lines, 'line')
  const messages: Message[] = []
  lines.on('line', (line) => {
    const message = JSON.parse(line) as Message
    // The sender waits with it until all that came before was read.
    if (!('BARRIER' in message.fields)) messages.push(message)
  })
  const withField = (field: string) => messages.filter(({ fields }) => field in fields)
  const has = (field: string, count = 1) =>
    until(`${count} times ${field}`, () => withField(field)[count - 1])
  return { path, messages, withField, has, env: { NOTIFY_SOCKET: path } }
}

const log = { warn: () => {} }
const nowUs = () => Number(process.hrtime.bigint() / 1_000n)

t.test('systemd hears of the start, a reload and the stop of a gateway, in their order', async (t) => {
  const manager = await startManager(t)
  const { config } = createWorkspace(t)
  const gateway = await serve(t, ['--config', config], { env: manager.env })
  await manager.has('READY')
  writeFileSync(config, configOf({ log: { level: 'warn' } }))
  const beforeUs = nowUs()
  gateway.child.kill('SIGHUP')
  await manager.has('READY', 2)
  const [reloading] = manager.withField('RELOADING')
  const sentUs = Number(reloading?.fields.MONOTONIC_USEC)
  t.ok(sentUs > beforeUs && sentUs <= nowUs(), 'on the clock that systemd has')
  // Refused: the old config stays active, and it is ready again.
  writeFileSync(config, '{')
  gateway.child.kill('SIGHUP')
  await manager.has('READY', 3)
  gateway.child.kill('SIGTERM')
  await manager.has('STOPPING')
  t.equal((await gateway.ended).status, 0)
  t.strictSame(
    manager.messages.map(({ fields }) => Object.keys(fields)[0]),
    ['READY', 'RELOADING', 'READY', 'RELOADING', 'READY', 'STOPPING'],
  )
})

t.test(
  'the watchdog hears twice in its time while the event loop runs, and nothing while it stands still',
  async (t) => {
    const manager = await startManager(t)
    const watchdogMs = 400
    const options = readServiceManager({
      ...manager.env,
      PATH: process.env.PATH,
      WATCHDOG_USEC: String(1_000 * watchdogMs),
      WATCHDOG_PID: String(process.pid),
    })
    t.equal(options?.watchdogMs, watchdogMs)
    const told = openServiceManager(options, log)
    t.teardown(told.close)
    await manager.has('WATCHDOG', 6)
    const [first, , , , , last] = manager.withField('WATCHDOG')
    const periodMs = ((last?.at ?? 0) - (first?.at ?? 0)) / 5_000
    t.ok(periodMs < watchdogMs, `every ${periodMs.toFixed(0)} ms`)
    const fromUs = nowUs()
    standStill(4 * watchdogMs)
    const toUs = nowUs()
    await manager.has('WATCHDOG', manager.withField('WATCHDOG').length + 2)
    // One may have been on its way.
    const meanwhile = manager.withField('WATCHDOG').filter(({ at }) => at > fromUs + 200_000 && at < toUs)
    t.equal(meanwhile.length, 0)
  },
)

t.test('a gateway that is suspended tells the watchdog nothing', async (t) => {
  const manager = await startManager(t)
  const { config } = createWorkspace(t)
  // With `env` and a shell in between nobody knows its ID.
  const env = { ...manager.env, WATCHDOG_USEC: '200000' }
  const { child, ended } = await serve(t, ['--config', config], { env })
  await manager.has('WATCHDOG', 3)
  child.kill('SIGSTOP')
  const stoppedUs = nowUs()
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const wokenUs = nowUs()
  child.kill('SIGCONT')
  await manager.has('WATCHDOG', manager.withField('WATCHDOG').length + 2)
  const meanwhile = manager.withField('WATCHDOG').filter(({ at }) => at > stoppedUs + 200_000 && at < wokenUs)
  t.equal(meanwhile.length, 0)
  child.kill('SIGTERM')
  t.equal((await ended).status, 0)
})

t.test('a watchdog of another process, or none, gets nothing', async (t) => {
  t.equal(readServiceManager({}), undefined)
  t.equal(readServiceManager({ NOTIFY_SOCKET: '' }), undefined)
  const watchdogMs = (env: Record<string, string>) =>
    readServiceManager({ NOTIFY_SOCKET: '/x', ...env })?.watchdogMs
  t.equal(watchdogMs({}), undefined)
  t.equal(watchdogMs({ WATCHDOG_USEC: '30000000' }), 30_000)
  t.equal(watchdogMs({ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '1' }), undefined)
  t.equal(watchdogMs({ WATCHDOG_USEC: '30000000', WATCHDOG_PID: String(process.ppid) }), 30_000)
  for (const invalid of ['0', '-1', '9999', 'x', ''])
    t.equal(watchdogMs({ WATCHDOG_USEC: invalid }), undefined)
})

t.test('without systemd-notify it is said once, and no further program is started', async (t) => {
  const lines: string[] = []
  const told = openServiceManager(
    { env: { NOTIFY_SOCKET: '/nowhere', PATH: '/nowhere' }, watchdogMs: 10 },
    { warn: (...words: readonly unknown[]) => void lines.push(words.join(' ')) },
  )
  t.teardown(told.close)
  told.ready()
  await until('it is said', () => lines[0])
  told.reloading()
  told.stopping()
  t.strictSame(lines, ['cannot notify the service manager: there is no systemd-notify'])
})

t.test('a shell that was ended is started again', async (t) => {
  const manager = await startManager(t)
  const told = openServiceManager(
    { env: { ...manager.env, PATH: String(process.env.PATH) }, watchdogMs: undefined },
    log,
  )
  t.teardown(told.close)
  told.ready()
  await manager.has('READY')
  const { stdout } = spawn('pgrep', ['--parent', String(process.pid), '--full', 'systemd-notify'])
  const [pid] = (await once(stdout, 'data')) as [Buffer]
  process.kill(Number(String(pid).trim()), 'SIGKILL')
  await until('it is ended', () => {
    told.ready()
    return manager.withField('READY').length > 1 || undefined
  })
})
