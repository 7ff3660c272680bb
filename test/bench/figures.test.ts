import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { quantile, ratiosOf, spreadOf } from '../../bench/figures.ts'
import { readH2Summary } from '../../bench/load/h2load.ts'
import { readSummary } from '../../bench/load/wrk.ts'
import { cpuUsOf, parseCpuUs, parseStealMs, rssBytesOf, stealMs } from '../../bench/process-tree.ts'
import { until } from '../setup/net.ts'

t.test('benchmark figures: medians, quantiles and ratios', async (t) => {
  t.strictSame(spreadOf([3, 1, 2]), { median: 2, least: 1, most: 3 })
  t.equal(spreadOf([4, 1]).median, 2.5)
  t.equal(quantile([0, 10, 20, 30, 40], 0.99), 39.6)
  t.strictSame(ratiosOf([6, 6], [2, 3]), [3, 2])
  t.throws(() => spreadOf([]))
})

t.test('CPU time is read from /proc whatever the name of the process', async (t) => {
  const fields = Array.from({ length: 40 }, (_, index) => String(index + 3))
  t.equal(parseCpuUs(`1 (a b) c) ${['S', ...fields.slice(1)].join(' ')}`), (14 + 15) * 10_000)
})

t.test('CPU time includes child processes', async (t) => {
  const spin = 'setInterval(() => { const end = Date.now() + 40; while (Date.now() < end); }, 1)'
  const start = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(spin)}])`
  const child = spawn(process.execPath, ['-e', start], { stdio: 'ignore', detached: true })
  const pid = child.pid ?? 0
  t.teardown(() => process.kill(-pid, 'SIGKILL'))
  await once(child, 'spawn')
  // The first does nothing after its start, so what goes on and on is the second.
  await until('they have used time', () => cpuUsOf([pid]) > 1_000_000 || undefined, 60_000)
  t.ok(rssBytesOf([pid]) > 40_000_000)
})

t.test('steal time is the eighth column of /proc/stat', async (t) => {
  t.equal(parseStealMs('cpu  1 2 3 4 5 6 7 80 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n'), 800)
  t.ok(stealMs() >= 0)
})

t.test('a run with unexpected statuses yields no figure', async (t) => {
  const output = (refused: number, broken: number) =>
    `Running\nsummary 100 2000000 ${refused} ${broken} 120 3400\n`
  const summary = { answers: 100, elapsedMs: 2_000, p50Ms: 0.12, p99Ms: 3.4 }
  t.strictSame(readSummary(output(0, 0), 200), summary)
  t.strictSame(readSummary(output(100, 0), 401), summary)
  for (const [refused, broken, status] of [
    [1, 0, 200],
    [99, 0, 401],
    [0, 1, 200],
  ] as const) {
    t.throws(() => readSummary(output(refused, broken), status))
  }
  t.throws(() => readSummary('nothing', 200))
})

t.test('a run of h2load with refused or failed requests yields no figure', async (t) => {
  const output = (failed: number, refused: number) =>
    `requests: 90 total, 99 started, 90 done, 90 succeeded, ${failed} failed, 0 errored, 0 timeout\n` +
    `status codes: 93 2xx, 0 3xx, ${refused} 4xx, 0 5xx\n`
  t.equal(readH2Summary(output(0, 0)), 90)
  t.throws(() => readH2Summary(output(1, 0)))
  t.throws(() => readH2Summary(output(0, 1)))
  t.throws(() => readH2Summary('nothing'))
})
