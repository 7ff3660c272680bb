import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import type { TestGateway } from '../setup/gateway.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { reloadWith, taken } from './support/reload.ts'

/** Requests one after another on connections that are kept, until it is stopped. @returns their statuses */
function load(t: Test, { url }: TestGateway, lines: readonly string[]) {
  let isOver = false
  const counts = new Map<number, number>()
  const clients = lines.map(async (line) => {
    const client = await connectRaw(t, url)
    while (!isOver) {
      const body = 'x'.repeat(2_000)
      client.send(`${line} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
      const { status } = await client.response()
      counts.set(status, (counts.get(status) ?? 0) + 1)
    }
  })
  const stop = async () => {
    isOver = true
    await Promise.all(clients)
    return counts
  }
  return { counts, stop }
}

const active = { path: '/healthz', interval: '10ms' }

t.test('a reload under load fails no request, whatever it changes', async (t) => {
  const { backend, gateway } = await startBoth(t)
  const { counts, stop } = load(
    t,
    gateway,
    Array.from({ length: 8 }, (_, index) => `POST /public/${index}`),
  )
  const variants = [
    { upstreams: { backend: { targets: [{ url: backend.url }], connections: 50 } } },
    { upstreams: { backend: { targets: [{ url: backend.url }], connections: 60 } } },
    { upstreams: { backend: { targets: [{ url: backend.url }], health: { active, passive: {} } } } },
    {
      upstreams: { backend: { targets: [{ url: backend.url, weight: 2 }], health: { active, passive: {} } } },
    },
    { upstreams: { backend: { targets: [{ url: backend.url }], balancing: 'leastRequests' } } },
    { upstreams: { backend: { targets: [{ url: backend.url }], balancing: 'ipHash' } } },
    { tokens: { accessLifetime: '2m' }, cache: { ttl: '2m' } },
    { tokens: { accessLifetime: '3m' }, cache: { ttl: '3m' } },
  ]
  for (let round = 0; round < 24; round++) {
    const before = counts.get(200) ?? 0
    t.match(await reloadWith(gateway, variants[round % variants.length] ?? {}), taken)
    while ((counts.get(200) ?? 0) < before + 20) await new Promise((resolve) => setImmediate(resolve))
  }
  const statuses = await stop()
  t.strictSame([...statuses.keys()], [200])
  t.ok((statuses.get(200) ?? 0) >= 400)
})
