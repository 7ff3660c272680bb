import { readFileSync } from 'node:fs'
import t from 'tap'
import { get } from '../runtime/fleet/fleet.ts'
import { until } from '../setup/net.ts'
import { signalAll, startWithProbe } from './start-with-probe.ts'
import { createWorkspace } from './workspace.ts'

// slow: starts the gateway once for each module that it loads

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

for (const workers of [1, 2]) {
  t.test(`SIGUSR1 opens no debugger in any process, with workers: ${workers}`, async (t) => {
    const { config } = createWorkspace(t, { listen: { port: 0, workers } })
    const { child, ended, ready, output } = startWithProbe(t, signalAll('SIGUSR1'), { config })
    const { url } = await ready()
    t.equal(await get(`${url}/x`), 401)
    t.notMatch(output.stdout, 'exited unexpectedly')
    child.kill('SIGTERM')
    // Where Node opens it, or cannot, it says so.
    t.match(await ended, { status: 0, stderr: '' })
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
