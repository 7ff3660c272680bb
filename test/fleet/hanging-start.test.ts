import cluster, { type Worker } from 'node:cluster'
import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import { openFleet } from '../../src/fleet/fleet.ts'
import { createLog } from '../../src/log/log.ts'
import { createMetrics } from '../../src/metrics/metrics.ts'
import { place } from '../cli/place.ts'
import { until } from '../setup/net.ts'
import { isAlive, type LogLine } from './fleet.ts'

// As the program starts them: without the loaders of the test runner, and not on the output of this test.
delete process.env.NODE_OPTIONS
cluster.setupPrimary({ execArgv: [], silent: true })

/** A fleet of two whose first process is this one. */
function newFleet(t: Test, startTimeoutMs?: number) {
  const options = { listen: { port: 0, workers: 2 }, log: { level: 'silent' } }
  const { config: file } = place(t, options)
  const lines: LogLine[] = []
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as LogLine)
      done()
    },
  })
  const loaded = loadConfig({ file, env: {} })
  const open = async () => {
    const fleet = await openFleet({
      loaded,
      log: createLog({ level: 'info', stream }),
      metrics: createMetrics({ version: '0' }),
      ...(startTimeoutMs !== undefined && { startTimeoutMs }),
    })
    let isOver = false
    const close = async () => {
      if (!isOver) await fleet.close()
      isOver = true
    }
    t.teardown(close)
    return { ...fleet, close }
  }
  const pids = () => lines.flatMap(({ msg, pid }) => (msg === 'a worker takes requests' ? (pid ?? []) : []))
  return { loaded, open, lines, pids }
}

/** Stops the worker that is started next before it says a word. @returns its process ID, once there is one */
function hangNext(): Promise<number> {
  return new Promise((resolve) => {
    cluster.once('fork', ({ process: { pid = 0 } }: Worker) => {
      process.kill(pid, 'SIGSTOP')
      resolve(pid)
    })
  })
}

t.test('a first worker that hangs ends the start, and does not outlive it', async (t) => {
  const hanging = hangNext()
  await t.rejects(newFleet(t, 300).open(), {
    name: 'OperatorError',
    message: 'a worker cannot take requests: no answer to start within 300 ms',
  })
  t.notOk(isAlive(await hanging))
})

t.test('one that hangs in the place of another is ended and tried again, and a reload goes on', async (t) => {
  const { loaded, open, lines, pids } = newFleet(t, 8_000)
  const fleet = await open()
  const hanging = hangNext()
  process.kill(pids()[0] ?? 0, 'SIGKILL')
  const hung = await hanging
  const change = await fleet.prepare(loaded)
  t.notOk(isAlive(hung))
  change.discard()
  await until('another takes its place', () => pids().length === 3 || undefined)
  const [failure] = lines.filter(({ msg }) => msg === 'a worker could not be replaced: another try follows')
  t.match(failure, { worker: 1, err: { message: /no answer to start within 8000 ms/ } })
})

t.test('an end waits for one that hangs no longer than for requests', async (t) => {
  const { open, pids } = newFleet(t)
  const fleet = await open()
  const hanging = hangNext()
  process.kill(pids()[0] ?? 0, 'SIGKILL')
  const hung = await hanging
  const begunAt = performance.now()
  t.ok(await fleet.drain(300), 'nobody had a request there')
  await fleet.close()
  // A start may take 30 s; the rest is for a machine that does other things too.
  t.ok(performance.now() - begunAt < 15_000)
  t.notOk([hung, ...pids()].some(isAlive))
})
