import cluster, { type Worker } from 'node:cluster'
import t from 'tap'
import { until } from '../../setup/net.ts'
import { isAlive } from './fleet.ts'
import { newFleet } from './own-fleet.ts'

// slow: waits for workers that do not start

/** Suspends the next worker before its first message. @returns its process ID, once there is one */
function hangNext(): Promise<number> {
  return new Promise((resolve) => {
    cluster.once('fork', ({ process: { pid = 0 } }: Worker) => {
      process.kill(pid, 'SIGSTOP')
      resolve(pid)
    })
  })
}

t.test('a hanging first worker fails the start, and does not outlive it', async (t) => {
  const hanging = hangNext()
  await t.rejects(newFleet(t, 300).open(), {
    name: 'OperatorError',
    message: 'a worker failed to start: no response to start within 300 ms',
  })
  t.notOk(isAlive(await hanging))
})

t.test('a hanging replacement worker is killed and retried, and a reload goes on', async (t) => {
  const { loaded, open, lines, pids } = newFleet(t, 8_000)
  const fleet = await open()
  const hanging = hangNext()
  process.kill(pids()[0] ?? 0, 'SIGKILL')
  const hung = await hanging
  const change = await fleet.prepare(loaded)
  t.notOk(isAlive(hung))
  change.discard()
  await until('another takes its place', () => pids().length === 3 || undefined)
  const [failure] = lines.filter(({ msg }) => msg === 'replacement worker failed to start: retrying')
  t.match(failure, { worker: 1, err: { message: /no response to start within 8000 ms/ } })
})

t.test('a shutdown waits for a hanging worker no longer than for requests', async (t) => {
  const { open, pids } = newFleet(t)
  const fleet = await open()
  const hanging = hangNext()
  process.kill(pids()[0] ?? 0, 'SIGKILL')
  const hung = await hanging
  const begunAt = performance.now()
  t.ok(await fleet.drain(300), 'nobody had a request there')
  await fleet.close()
  // A start may take 30 s; the rest is for a busy machine.
  t.ok(performance.now() - begunAt < 15_000)
  t.notOk([hung, ...pids()].some(isAlive))
})
