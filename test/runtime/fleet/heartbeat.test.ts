import t from 'tap'
import { until } from '../../setup/net.ts'
import { isAlive } from './fleet.ts'
import { newFleet } from './own-fleet.ts'

// slow: waits for workers that do not answer

t.test('a stopped worker is detected, logged and replaced', async (t) => {
  const { open, lines, pids } = newFleet(t)
  const { metricsText } = await open()
  const [hung = 0] = pids()
  process.kill(hung, 'SIGSTOP')
  await until('another takes its place', () => pids().length >= 3, 30_000)
  t.notOk(isAlive(hung))
  const said = lines.find(({ msg }) => msg.startsWith('worker not responding'))
  t.match(said, { level: 'error', worker: 1, pid: hung })
  t.match(await metricsText(), /^gatehouse_worker_hangs_total [1-9]/m)
})

t.test('a reload waits for a hung worker only until it is detected, then applies', async (t) => {
  const { open, loaded, pids } = newFleet(t)
  const { prepare } = await open()
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
