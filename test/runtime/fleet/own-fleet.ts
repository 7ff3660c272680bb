import cluster from 'node:cluster'
import { Writable } from 'node:stream'
import type { Test } from 'tap'
import { loadConfig } from '#config/load.ts'
import { openMetrics } from '#ops/metrics/metrics.ts'
import { createLog } from '#platform/log/log.ts'
import { openFleet } from '#runtime/fleet/fleet.ts'
import { createWorkspace } from '../../cli/workspace.ts'
import type { LogLine } from './fleet.ts'

// As the program starts them: without the loaders of the test runner, and not on the output of this test.
delete process.env.NODE_OPTIONS
cluster.setupPrimary({ execArgv: [], silent: true })

/** A fleet of two whose first process is this one. */
export function newFleet(t: Test, startTimeoutMs?: number) {
  const { config: file } = createWorkspace(t, { listen: { port: 0, workers: 2 } })
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
      metrics: openMetrics({ version: '0' }),
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
  const pids = () => lines.flatMap(({ msg, pid }) => (msg === 'worker ready' ? (pid ?? []) : []))
  return { loaded, open, lines, pids }
}
