import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../setup/net.ts'
import { type Ready, textOf } from './run.ts'
import { createWorkspace } from './workspace.ts'

for (const words of [['start'], ['run', 'gatehouse', '--', 'serve']]) {
  t.test(`a signal to npm ${words.join(' ')} stops the gateway, not only npm`, async (t) => {
    const { config, folder } = createWorkspace(t)
    const readyFile = join(folder, 'ready.json')
    const options = ['--config', config, '--ready-file', readyFile]
    const isScript = words.includes('--')
    const child = spawn('npm', [...words, ...(isScript ? [] : ['--']), ...options], { stdio: 'ignore' })
    const { pid } = JSON.parse(await until('it is ready', () => textOf(readyFile))) as Ready
    t.teardown(() => isAlive(pid) && process.kill(pid, 'SIGKILL'))
    child.kill('SIGTERM')
    await once(child, 'exit')
    await until('the gateway has ended', () => !isAlive(pid), 10_000)
  })
}

t.test('a signal to all the processes of npm is one signal to the gateway', async (t) => {
  const { config, folder } = createWorkspace(t, { shutdown: { delay: '1s', drain: '50ms' } })
  const readyFile = join(folder, 'ready.json')
  const words = ['run', '-s', 'gatehouse', '--', 'serve', '--config', config, '--ready-file', readyFile]
  const child = spawn('npm', words, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  let log = ''
  child.stdout.on('data', (text) => {
    log += String(text)
  })
  const { pid } = JSON.parse(await until('it is ready', () => textOf(readyFile))) as Ready
  t.teardown(() => isAlive(pid) && process.kill(pid, 'SIGKILL'))
  // The ID of a process group is that of its first process.
  process.kill(-(child.pid ?? 0), 'SIGINT')
  await once(child, 'close')
  t.equal(child.exitCode, 0)
  t.match(log, '"msg":"stopped"')
})

t.test('the tools of a checkout say how they are called', async (t) => {
  for (const [tool, usage] of [
    ['bench/drills/run.ts', /^npm run drill -- NAME\n[\s\S]*revocation/],
    ['test/fidelity/conformance.ts', /^node test\/fidelity\/conformance\.ts \[GROUP…\]\n/],
  ] as const) {
    for (const option of ['--help', '-h']) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [tool, option], { encoding: 'utf8' })
      t.match({ status, stdout, stderr }, { status: 0, stdout: usage, stderr: '' }, `${tool} ${option}`)
    }
  }
  t.equal(spawnSync(process.execPath, ['bench/drills/run.ts']).status, 2, 'a name is needed')
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
