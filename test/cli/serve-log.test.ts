import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../setup/net.ts'
import { program, type Ready, textOf } from './run.ts'
import { createWorkspace } from './workspace.ts'

const log = new URL('../../src/platform/log/log.ts', import.meta.url).href

/** Runs Node with a shell redirection of its output, such as `> /dev/full`; it is killed with the test. */
function runNode(t: Test, args: readonly string[], output: string) {
  const command = `exec env -u NODE_OPTIONS "$0" "$@" ${output}`
  const child = spawn('sh', ['-c', command, process.execPath, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const written = { stdout: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written.stdout += text
  })
  child.stderr.resume()
  // A hung process does not exit on a signal that can be handled.
  t.teardown(() => child.kill('SIGKILL'))
  return { child, written, ended: once(child, 'close') }
}

for (const workers of [1, 2]) {
  t.test(`a log that cannot be written stops no traffic, nor a stop: ${workers} process(es)`, async (t) => {
    const { config, folder } = createWorkspace(t)
    const readyFile = join(folder, 'ready.json')
    const args = [program, 'serve', '--config', config, '--ready-file', readyFile]
    const { child, ended } = runNode(t, [...args, '--set', `listen.workers=${workers}`], '> /dev/full')
    const ready = JSON.parse(await until('it is ready', () => textOf(readyFile))) as Ready
    for (let index = 0; index < 300; index++) {
      const answer = await fetch(`${ready.url}/x`, { signal: AbortSignal.timeout(5_000) })
      t.equal(answer.status, 401)
      await answer.body?.cancel()
    }
    t.equal((await fetch(`${ready.opsUrl}/livez`, { signal: AbortSignal.timeout(5_000) })).status, 200)
    process.kill(ready.pid, 'SIGTERM')
    await until('it has ended', () => child.exitCode !== null, 10_000)
    await ended
    t.equal(child.exitCode, 0)
  })
}

const crash = `
  const { createLog, logUncaughtErrors } = await import('${log}')
  const log = createLog({ level: 'info' })
  logUncaughtErrors(log)
  for (let index = 0; index < 100; index++) log.info({ index }, 'before')
  setImmediate(() => { throw new Error('out of nowhere') })
`

t.test('a fault is in the log with all that was before it, and ends the process with 1', async (t) => {
  const { child, written, ended } = runNode(t, ['--input-type=module', '-e', crash], '')
  await ended
  t.equal(child.exitCode, 1)
  const lines = written.stdout.trimEnd().split('\n')
  t.equal(lines.length, 101)
  // Not always last: a batch may be in progress when the process exits.
  const fault = lines.map((line) => JSON.parse(line) as unknown).find((line) => isFatal(line))
  t.match(fault, { level: 'fatal', err: { message: 'out of nowhere' } })
})

function isFatal(line: unknown): boolean {
  return typeof line === 'object' && line !== null && 'level' in line && line.level === 'fatal'
}

t.test('a fault ends a process whose log cannot be written, too', async (t) => {
  const { child } = runNode(t, ['--input-type=module', '-e', crash], '> /dev/full')
  await until('it has ended', () => child.exitCode !== null, 10_000)
  t.equal(child.exitCode, 1)
})

t.test('a log reader that closes its pipe ends neither the process nor its work', async (t) => {
  const work = `
    const { createLog } = await import('${log}')
    const log = createLog({ level: 'info' })
    const write = (left) => {
      for (let index = 0; index < 100; index++) log.info({ left, index }, 'a line')
      if (left > 0) log.flush(() => setImmediate(write, left - 1))
      else console.error('done')
    }
    write(100)
  `
  const { child, written } = runNode(t, ['--input-type=module', '-e', work], '| head -n 1')
  let said = ''
  child.stderr.on('data', (text) => {
    said += String(text)
  })
  await until('the work is done', () => said.includes('done'))
  t.match(written.stdout, /^\{[^\n]*\}\n$/)
})
