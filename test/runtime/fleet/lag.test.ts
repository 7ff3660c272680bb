import cluster from 'node:cluster'
import t from 'tap'
import { parseExposition } from '../../gateway/support/metrics.ts'
import { until } from '../../setup/net.ts'
import { newFleet } from './own-fleet.ts'

// slow: suspends a worker for two seconds

t.test(
  'a scrape has the lag of workers since the last one, though they are sampled in between',
  async (t) => {
    const { open, pids } = newFleet(t)
    const fleet = await open()
    const most = async () =>
      parseExposition(await fleet.metricsText()).value('nodejs_eventloop_lag_max_seconds')
    await until('the lag of the start is over', async () => (await most()) < 0.3 || undefined)

    const [pid = 0] = pids()
    process.kill(pid, 'SIGSTOP')
    // What does not answer is waited for.
    await fleet.metricsSnapshot()
    process.kill(pid, 'SIGCONT')
    let answers = 0
    const [worker] = Object.values(cluster.workers ?? {}).filter((each) => each?.process.pid === pid)
    worker?.on('message', () => void answers++)
    // Each second it is pinged and sampled; what it was asked meanwhile it answers before it notices how late it is.
    await until('it has been sampled for some seconds', () => answers > 12 || undefined, 10_000)

    t.ok((await most()) > 0.5)
    await until('the next scrape has it no more', async () => (await most()) < 0.3 || undefined)
    t.equal(pids().length, 2, 'it was not replaced')
  },
)
