import type { ServerResponse } from 'node:http'
import t from 'tap'
import { startBackend, startServer } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { isAlive, serveFleet, untilAllAnswer } from './fleet.ts'

const head = 'GET /x HTTP/1.1\r\nHost: x\r\n\r\n'

t.test('SIGTERM under load fails no request in any worker', async (t) => {
  const backend = await startBackend(t)
  const fleet = await serveFleet(t, { backend: backend.url })
  await untilAllAnswer(fleet)
  let count = 0
  const clients = Array.from({ length: 8 }, async () => {
    const client = await connectRaw(t, fleet.url)
    for (;;) {
      const { status, headers } = await client.send(head).response()
      count++
      if (status !== 200) return status
      if (headers.connection === 'close') return client.ended()
    }
  })
  await until('they are at it', () => count > 200 || undefined)
  fleet.child.kill('SIGTERM')
  for (const outcome of await Promise.all(clients)) t.equal(outcome, undefined)
  const { status, stderr } = await fleet.ended
  t.equal(status, 0)
  t.equal(stderr, '')
  t.notOk(fleet.pids().some(isAlive))
  const logged = fleet.lines().filter(({ msg }) => msg === 'request')
  t.equal(logged.length, backend.seen.length, 'each has its line, whole and on its own')
})

t.test('a shutdown that cuts off requests exits with status 2', async (t) => {
  const held: ServerResponse[] = []
  const backend = await startServer(t, (_request, response) => void held.push(response))
  const fleet = await serveFleet(t, { backend, config: { shutdown: { drain: '100ms' } } })
  const client = await connectRaw(t, fleet.url)
  client.send(head)
  await until('the backend has it', () => held[0])
  fleet.child.kill('SIGTERM')
  t.equal((await client.response()).status, 503)
  t.equal((await fleet.ended).status, 2)
  t.notOk(fleet.pids().some(isAlive))
})

t.test('a second signal ends all workers at once with status 2', async (t) => {
  const held: ServerResponse[] = []
  const backend = await startServer(t, (_request, response) => void held.push(response))
  const fleet = await serveFleet(t, { backend, config: { shutdown: { drain: '1h' } } })
  const client = await connectRaw(t, fleet.url)
  client.send(head)
  await until('the backend has it', () => held[0])
  fleet.child.kill('SIGTERM')
  await until('it is stopping', () => fleet.lines().find(({ msg }) => msg === 'stopping'))
  // There must be half a second between them.
  await until('it ends', () => !fleet.child.kill('SIGTERM') || fleet.child.exitCode !== null)
  t.equal((await fleet.ended).status, 2)
  await until('no worker outlives it', () => !fleet.pids().some(isAlive) || undefined)
})

t.test('no worker outlives a killed gateway or keeps its port', async (t) => {
  const fleet = await serveFleet(t)
  fleet.child.kill('SIGKILL')
  await until('they are gone', () => !fleet.pids().some(isAlive) || undefined)
  await t.rejects(connectRaw(t, fleet.url), { code: 'ECONNREFUSED' })
})

t.test('a signal to the whole process group is handled by the primary alone', async (t) => {
  const backend = await startBackend(t)
  const fleet = await serveFleet(t, { backend: backend.url })
  await untilAllAnswer(fleet)
  const client = await connectRaw(t, fleet.url)
  t.equal((await client.send(head).response()).status, 200)
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) {
    for (const pid of fleet.pids()) process.kill(pid, signal)
    t.equal((await client.send(head).response()).status, 200, signal)
  }
  t.equal(fleet.pids().length, 2)
  t.ok(fleet.pids().every(isAlive))
})
