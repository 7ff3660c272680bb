import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { portOf, until } from '../../setup/net.ts'
import { startRedis } from '../../setup/redis.ts'
import { createAccount, plain } from '../samples.ts'
import { openStoreAt, optionsOf } from './place.ts'

/** A wire to a server that can be cut as a broken network is: nothing is closed, and nothing comes any more. */
async function startWire(port: number) {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.pipe(upstream)
    upstream.pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    url: `redis://127.0.0.1:${portOf(server)}`,
    /** What is connected now falls silent; what connects later is not touched. */
    cut: () => {
      for (const socket of sockets) {
        socket.unpipe()
        socket.resume()
      }
    },
  }
}

t.test('a connection that has fallen silent is given up for a new one', async (t) => {
  const server = await startRedis(t)
  const wire = await startWire(server.port)
  const store = await openStoreAt(t, optionsOf(wire, { commandTimeoutMs: 250 }))
  const account = await createAccount(store)
  wire.cut()
  const refusal = await store.findAccount(account.id).catch((error: unknown) => error)
  t.match(refusal, { code: 'store-unavailable' })
  const found = await until(
    'it answers again',
    () => store.findAccount(account.id).catch(() => undefined),
    5_000,
  )
  t.strictSame(plain(found), plain(account))
})
