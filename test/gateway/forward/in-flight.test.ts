import t from 'tap'
import { answerOf, startHeadBackend } from '../../http/outgoing/backends.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { headOf, startProxy, untilInFlight } from './proxies.ts'

t.test('leastRequests counts requests that wait for a connection, and none that have ended', async (t) => {
  const backends = await Promise.all(
    Array.from({ length: 2 }, () =>
      startHeadBackend(t, ({ path, socket }) => {
        if (path !== '/held') socket.write(answerOf('ok'))
      }),
    ),
  )
  const gateway = await startProxy(t, '', {
    upstream: {
      targets: backends.map(({ url }) => ({ url })),
      balancing: 'leastRequests',
      connections: 1,
      retries: { attempts: 0 },
    },
  })
  const heldAt = () => backends.map(({ heads }) => heads.filter(({ path }) => path === '/held').length)

  const client = await connectRaw(t, gateway.url)
  for (let count = 0; count < 5; count++)
    t.equal((await client.send(headOf('GET /short HTTP/1.1')).response()).body, 'ok')

  // One on each connection, and one waiting at each target.
  const clients = await Promise.all(Array.from({ length: 4 }, () => connectRaw(t, gateway.url)))
  for (const [index, held] of clients.entries()) {
    held.send(headOf('GET /held HTTP/1.1'))
    await untilInFlight(gateway, index + 1)
  }
  t.strictSame(heldAt(), [1, 1])
  for (const { heads } of backends) heads.at(-1)?.socket.write(answerOf('ok'))
  await until('those that waited are sent', () => heldAt().every((count) => count === 2) || undefined)

  for (const held of clients) held.close()
  await untilInFlight(gateway, 0)
  const held = await connectRaw(t, gateway.url)
  held.send(headOf('GET /held HTTP/1.1'))
  await until('one target has one more', () => heldAt().includes(3) || undefined)
  const other = backends[heldAt().indexOf(2)]
  for (let count = 0; count < 3; count++) {
    t.equal((await client.send(headOf('GET /free HTTP/1.1')).response()).body, 'ok')
    t.equal(other?.heads.at(-1)?.path, '/free', 'at the target that is free')
  }
})
