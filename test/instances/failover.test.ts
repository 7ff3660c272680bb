import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'

// slow: Redis fails over many times

/** How long one of them may take on a busy machine. */
const withinMs = 90_000
t.setTimeout(2 * withinMs)

/** Longer than it takes until the silent master is replaced. */
const topologies = { 'sentinel-1+1': 5, 'cluster-3+3': 3 } as const

for (const [topology, backAfterS] of Object.entries(topologies)) {
  t.test(
    `${topology}: a failover under refreshes ends no session and hides no reuse`,
    { timeout: withinMs },
    async (t) => {
      const drill = startDrill(t, ['failover', topology, String(backAfterS), 'short'])
      const [report] = await Promise.all([text(drill.stdout), once(drill, 'exit')])
      t.equal(drill.exitCode, 0, report)
      t.match(report, /^ok +sessions lost: 0 of 40/m)
      const reuses = [...report.matchAll(/^ok +reuse, stolen in the phase "([^"]+)":.* 0 missed$/gm)]
      t.strictSame(
        reuses.map(([, phase]) => phase),
        ['before', 'no master', 'no replica', 'back'],
      )
    },
  )
}

function startDrill(t: Test, args: readonly string[]) {
  const drill = spawn(process.execPath, ['bench/drills/run.ts', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // A group of its own: if it does not end, what it has started ends with it.
    detached: true,
  })
  t.teardown(() => {
    if (!hasEnded(drill) && drill.pid) process.kill(-drill.pid, 'SIGKILL')
  })
  return drill
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}
