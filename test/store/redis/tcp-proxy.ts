import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { portOf } from '../../setup/net.ts'
import type { Scope } from '../../setup/redis.ts'

/** A wire to a server that can be cut as a broken network is: nothing is closed, and nothing comes any more. */
export interface TcpProxy {
  readonly url: string
  /** What is connected now falls silent; what connects later is not touched. */
  cut(): void
  /** The same, of those alone that have said something. */
  cutMatching(said: string): number
  /** What connects later gets to another server. */
  leadTo(port: number): void
}

export async function startTcpProxy(t: Scope, firstPort: number): Promise<TcpProxy> {
  let port = firstPort
  const pairs = new Set<{ readonly sockets: readonly Socket[]; said: string }>()
  // Half-open: once it is cut not even the end of a connection is answered.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const pair = { sockets: [client, upstream], said: '' }
    pairs.add(pair)
    for (const socket of pair.sockets) {
      socket.on('error', () => {})
      socket.on('close', () => pairs.delete(pair))
    }
    client.on('data', (data) => {
      // How a connection begins shows what it is for.
      if (pair.said.length < 10_000) pair.said += data.toString('latin1')
    })
    client.pipe(upstream)
    upstream.pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const { sockets } of pairs) for (const socket of sockets) socket.destroy()
  })

  function cutMatching(said: string): number {
    const chosen = [...pairs].filter((pair) => pair.said.includes(said))
    for (const { sockets } of chosen) {
      for (const socket of sockets) {
        socket.unpipe()
        socket.resume()
      }
    }
    return chosen.length
  }

  return {
    url: `redis://127.0.0.1:${portOf(server)}`,
    cutMatching,
    cut: () => void cutMatching(''),
    leadTo: (next) => {
      port = next
    },
  }
}
