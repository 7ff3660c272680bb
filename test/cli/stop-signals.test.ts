import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { until } from '../setup/net.ts'
import { program } from './run.ts'
import { signalAll, startWithProbe } from './start-with-probe.ts'
import { createWorkspace } from './workspace.ts'

// slow: starts the gateway again and again

t.test('SIGTERM and SIGINT at any moment of the start end it with status 0, and no complaint', async (t) => {
  // The last ones come when the program is about to serve.
  const loads = [1, 3, 20, 250, 400]
  const outcomes = await Promise.all(
    loads.map((load, index) => {
      const { config } = createWorkspace(t)
      const signal = index % 2 === 0 ? 'SIGTERM' : 'SIGINT'
      return startWithProbe(t, `if (loads === ${load}) ${signalAll(signal)}`, { config }).ended
    }),
  )
  for (const [index, outcome] of outcomes.entries())
    t.match(outcome, { status: 0, signal: null, stderr: '' }, `at load ${loads[index]}`)
})

t.test('the entry of the package handles signals before it loads anything', async (t) => {
  const { config, folder } = createWorkspace(t)
  // In place of the built program, one that says how it got there.
  writeFileSync(join(folder, 'main.js'), "console.log('loaded')\nsetTimeout(() => {}, 60_000)\n")
  const entry = join(folder, 'gatehouse.cjs')
  const source = readFileSync('bin/gatehouse.cjs', 'utf8')
  writeFileSync(
    entry,
    source
      .replace('../package.json', resolve('package.json'))
      .replace('./needed-node.cjs', resolve('bin/needed-node.cjs'))
      .replace('./import-program.cjs', './main.js'),
  )
  for (const [signal, expected] of [
    ['SIGTERM', { status: 0, signal: null, stderr: '' }],
    ['SIGINT', { status: 0, signal: null, stderr: '' }],
  ] as const) {
    const { ended } = startWithProbe(t, `if (loads === 1) ${signalAll(signal)}`, { entry, config })
    t.match(await ended, expected)
  }
  for (const signal of ['SIGHUP', 'SIGUSR1']) {
    const { child, ended, output } = startWithProbe(t, signalAll(signal), { entry, config })
    await until('it goes on', () => output.stdout.includes('loaded') || undefined)
    child.kill('SIGTERM')
    t.match(await ended, { status: 0, stderr: '' })
  }
})

t.test('signals that are no business of a command end it as ever', async (t) => {
  const { config } = createWorkspace(t)
  const probe = encodeURIComponent("process.kill(process.pid, 'SIGHUP')")
  const args = ['--import', `data:text/javascript,${probe}`, program, 'accounts', 'list', '--config', config]
  const [status, signal] = await once(spawn(process.execPath, args), 'exit')
  t.strictSame([status, signal], [null, 'SIGHUP'])
})
