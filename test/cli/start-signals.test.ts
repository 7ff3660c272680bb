import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { get } from '../fleet/fleet.ts'
import { until } from '../setup/net.ts'
import { program, textOf } from './run.ts'
import { createWorkspace } from './workspace.ts'

/**
 * Runs code whenever the program loads a module until it is ready, from the second on: when the first is loaded, nothing
 * of it has run yet. So a signal comes at exactly this moment, however busy the machine is. Workers inherit it.
 */
function startWithProbe(
  t: Test,
  code: string,
  { entry = program, config }: { entry?: string; config: string },
) {
  const readyFile = join(config, '../ready.json')
  const probe = `
    import { existsSync, writeFileSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    let loads = -1
    registerHooks({
      load: (url, context, nextLoad) => {
        loads++
        if (loads > 0 && !existsSync(${JSON.stringify(readyFile)})) onLoad(url)
        return nextLoad(url, context)
      },
    })
    function onLoad(url) { ${code} }
  `
  const args = ['serve', '--config', config, '--ready-file', readyFile]
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(probe)}`, entry, ...args],
    {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  t.teardown(() => child.kill('SIGKILL'))
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  const ended = once(child, 'close').then(([status, signal]) => ({ status, signal, ...output }))
  const ready = () =>
    until('it is ready', () => {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`ended: ${output.stderr}`)
      const text = textOf(readyFile)
      return text === undefined ? undefined : (JSON.parse(text) as { readonly url: string })
    })
  return { child, ended, ready, output }
}

const signalAll = (signal: string) => `process.kill(process.pid, '${signal}')`

for (const workers of [1, 2]) {
  t.test(`SIGHUP at any moment of the start ends no process, with workers: ${workers}`, async (t) => {
    const { config } = createWorkspace(t, { listen: { port: 0, workers } })
    const { child, ended, ready, output } = startWithProbe(t, signalAll('SIGHUP'), { config })
    const { url } = await ready()
    t.equal(await get(`${url}/x`), 401)
    t.notMatch(output.stdout, 'exited unexpectedly')
    await until('it is reloaded', () => output.stdout.includes('config reloaded') || undefined)
    child.kill('SIGTERM')
    t.match(await ended, { status: 0, stderr: '' })
    const reloads = output.stdout.split('config reloaded').length - 1
    t.ok(reloads <= 3, `not one for each signal: ${reloads}`)
  })
}

t.test('a reload that was asked for during the start is not lost', async (t) => {
  const { config } = createWorkspace(t, { listen: { port: 0, workers: 2 } })
  const now = readFileSync(config, 'utf8')
  const next = JSON.stringify(now.replace('"auth":"any"', '"auth":"none"'))
  // It is loaded once the config has been read.
  const code = `
    if (!url.endsWith('/fleet/fleet.ts')) return
    writeFileSync(${JSON.stringify(config)}, ${next})
    process.kill(process.pid, 'SIGHUP')
  `
  const { ready, output } = startWithProbe(t, code, { config })
  const { url } = await ready()
  await until('it is reloaded', () => output.stdout.includes('config reloaded') || undefined)
  t.equal(await get(`${url}/x`), 502, 'the route is open')
})

t.test('SIGTERM and SIGINT at any moment of the start end it with status 0, and no complaint', async (t) => {
  // The last ones come when the program is about to serve.
  const loads = [1, 2, 3, 20, 100, 250, 400]
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
    source.replace('../package.json', resolve('package.json')).replace('./import-program.cjs', './main.js'),
  )
  for (const [signal, expected] of [
    ['SIGTERM', { status: 0, signal: null, stderr: '' }],
    ['SIGINT', { status: 0, signal: null, stderr: '' }],
  ] as const) {
    const { ended } = startWithProbe(t, `if (loads === 1) ${signalAll(signal)}`, { entry, config })
    t.match(await ended, expected)
  }
  const { child, ended, output } = startWithProbe(t, signalAll('SIGHUP'), { entry, config })
  await until('it goes on', () => output.stdout.includes('loaded') || undefined)
  child.kill('SIGTERM')
  t.match(await ended, { status: 0 })
})

t.test('signals that are no business of a command end it as ever', async (t) => {
  const { config } = createWorkspace(t)
  const probe = encodeURIComponent("process.kill(process.pid, 'SIGHUP')")
  const args = ['--import', `data:text/javascript,${probe}`, program, 'accounts', 'list', '--config', config]
  const [status, signal] = await once(spawn(process.execPath, args), 'exit')
  t.strictSame([status, signal], [null, 'SIGHUP'])
})
