import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { runProgram } from '../../cli/run.ts'
import { createWorkspace } from '../../cli/workspace.ts'
import { startBackend, startServer } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { childrenOf, get, isAlive, serveFleet, untilAllAnswer } from './fleet.ts'

// slow: starts several fleets

t.test('all workers serve one port, and end with the gateway', async (t) => {
  const backend = await startBackend(t)
  const fleet = await serveFleet(t, { backend: backend.url, workers: 3 })
  t.equal(fleet.pid, fleet.child.pid, 'the ready file names the process that signals go to')
  t.equal(fleet.pids().length, 3, 'it appears once all take requests')
  t.strictSame([...childrenOf(fleet.pid)].toSorted(), [...fleet.pids()].toSorted())
  await untilAllAnswer(fleet, 3)
  t.equal((await fetch(`${fleet.opsUrl}/readyz`)).status, 200)
  fleet.child.kill('SIGTERM')
  const { status, stderr } = await fleet.ended
  t.equal(status, 0)
  t.equal(stderr, '')
  t.notOk(fleet.pids().some(isAlive))
})

t.test('with one worker the gateway is a single process', async (t) => {
  const fleet = await serveFleet(t, { workers: 1 })
  t.strictSame(childrenOf(fleet.pid), [])
  t.strictSame(fleet.pids(), [])
})

t.test('workers: auto is one per core', async (t) => {
  const fleet = await serveFleet(t, { config: { listen: { workers: 'auto' } } })
  const cores = availableParallelism()
  t.equal(childrenOf(fleet.pid).length, cores === 1 ? 0 : cores)
})

t.test('a first start of several workers creates keys and database once', async (t) => {
  const fleet = await serveFleet(t, { workers: 3, args: ['--demo'] })
  const made = await until('it greets', () => fleet.output.stdout.match(/gate_sk_\w+/g) ?? undefined)
  t.equal(new Set(made).size, 1)
  const names = readdirSync(join(fleet.folder, 'data')).filter((name) => !/-(?:wal|shm)$/.test(name))
  t.strictSame(names.toSorted(), ['gatehouse.db', 'sealing.key'])
  const kids = JSON.parse((await fleet.run('signing-keys', 'list', '--json')).stdout) as unknown[]
  t.equal(kids.length, 1)
})

t.test('a failed start reports its reason once, and leaves no worker behind', async (t) => {
  const { port } = new URL(await startServer(t, (_request, response) => response.end()))
  for (const [setting, said] of [
    [`listen.port=${port}`, `cannot listen on 127.0.0.1:${port}: address already in use`],
    [`ops.port=${port}`, `cannot listen on 127.0.0.1:${port}: address already in use`],
    ['listen.host=192.0.2.1', 'cannot listen on 192.0.2.1:0: '],
    ['store.sqlite.path=gateway.yaml/x.db', 'cannot open the database '],
  ] as const) {
    const { config } = createWorkspace(t, { listen: { port: 0, workers: 2 } })
    const { status, stderr } = await runProgram(t, ['serve', '--config', config, '--set', setting], {
      withinMs: 60_000,
    })
    t.equal(status, 1, setting)
    t.equal(stderr.split(said).length, 2, setting)
  }
})

t.test('a dying worker drops only its own connections', async (t) => {
  const backend = await startBackend(t)
  const fleet = await serveFleet(t, { backend: backend.url })
  const [first = 0] = fleet.pids()
  process.kill(first, 'SIGKILL')
  for (let turn = 0; turn < 50; turn++) t.equal(await get(`${fleet.url}/x`), 200)
  await until('it is replaced', () => fleet.pids().length === 3 || undefined)
  t.ok(isAlive(fleet.pids()[2] ?? 0))
  const [death] = fleet.lines().filter(({ level }) => level === 'error')
  t.match(death, {
    worker: 1,
    pid: first,
    signal: 'SIGKILL',
    msg: 'worker exited unexpectedly: replacing it',
  })
})
