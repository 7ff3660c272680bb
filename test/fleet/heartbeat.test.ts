import cluster from 'node:cluster'
import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import { openFleet } from '../../src/fleet/fleet.ts'
import { createLog } from '../../src/log/log.ts'
import { createMetrics } from '../../src/metrics/metrics.ts'
import { createWorkspace } from '../cli/workspace.ts'
import { until } from '../setup/net.ts'
import { isAlive, type LogLine } from './fleet.ts'

// As the program starts them: without the loaders of the test runner, and not on the output of this test.
delete process.env.NODE_OPTIONS
cluster.setupPrimary({ execArgv: [], silent: true })

/** A fleet of two whose first process is this one. */
async function startFleet(t: Test) {
  const { config: file } = createWorkspace(t, { listen: { port: 0, workers: 2 } })
  const lines: LogLine[] = []
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as LogLine)
      done()
    },
  })
  const loaded = loadConfig({ file, env: {} })
  const metrics = createMetrics({ version: '0' })
  t.teardown(metrics.close)
  const fleet = await openFleet({ loaded, log: createLog({ level: 'info', stream }), metrics })
  t.teardown(fleet.close)
  const pids = () => lines.flatMap(({ msg, pid }) => (msg === 'worker ready' ? (pid ?? []) : []))
  return { ...fleet, loaded, lines, pids }
}

t.test('a stopped worker is detected, logged and replaced', async (t) => {
  const { lines, pids, metricsText } = await startFleet(t)
  const [hung = 0] = pids()
  process.kill(hung, 'SIGSTOP')
  await until('another takes its place', () => pids().length >= 3, 30_000)
  t.notOk(isAlive(hung))
  const said = lines.find(({ msg }) => msg.startsWith('worker not responding'))
  t.match(said, { level: 'error', worker: 1, pid: hung })
  t.match(await metricsText(), /^gatehouse_worker_hangs_total [1-9]/m)
})

t.test('a reload waits for a hung worker only until it is detected, then applies', async (t) => {
  const { loaded, pids, prepare } = await startFleet(t)
  const [hung = 0] = pids()
  process.kill(hung, 'SIGSTOP')
  const begunAt = performance.now()
  const change = await prepare(loaded)
  // 30 s would be its own limit.
  t.ok(performance.now() - begunAt < 20_000)
  t.notOk(isAlive(hung))
  await change.commit()
  await until('another takes its place', () => pids().length >= 3, 30_000)
})
