import t from 'tap'
import { reloadWith, taken } from '../../gateway/support/reload.ts'
import { type Http2Load, startHttp2Load } from '../../http/h2/load.ts'
import { startBackend } from '../../setup/backend.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { serveFleet } from './fleet.ts'

const connections = 3
const streams = 10 * connections

/** Waits for so many further answers of 200. */
async function untilAnswered({ counts }: Http2Load, further: number): Promise<void> {
  const before = counts.get(200) ?? 0
  await until('they are answered', () => (counts.get(200) ?? 0) >= before + further || undefined, 30_000)
}

t.test('reloads and SIGTERM fail no request of HTTP/2, a dead worker only what it had', async (t) => {
  const backend = await startBackend(t)
  const [fleet, next] = await Promise.all([
    serveFleet(t, { backend: backend.url }),
    startGateway(t, { backend: backend.url }),
  ])
  let isStopping = false
  const load = startHttp2Load(t, () => (isStopping ? next.url : fleet.url), connections)
  for (let round = 0; round < 3; round++) {
    const upstreams = { backend: { targets: [{ url: backend.url }], connections: 10 + round } }
    t.match(await reloadWith(fleet, { upstreams }), taken)
    await untilAnswered(load, 50)
  }
  t.strictSame([...load.counts.keys()], [200])
  t.equal(load.connections(), connections, 'no reload closes a connection')

  process.kill(fleet.pids()[0] ?? 0, 'SIGKILL')
  await until('it is replaced', () => fleet.pids().length === 3 || undefined, 30_000)
  await untilAnswered(load, 50)
  const failed = load.counts.get(0) ?? 0
  t.ok(failed <= streams, 'at most one for each that was waiting')

  isStopping = true
  fleet.child.kill('SIGTERM')
  t.equal((await fleet.ended).status, 0)
  await untilAnswered(load, 50)
  await load.stop()
  t.equal(load.counts.get(0) ?? 0, failed)
  t.strictSame(
    [...load.counts.keys()].filter((status) => status !== 0),
    [200],
  )
})
