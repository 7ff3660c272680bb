import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Scope } from '../scope.ts'

/** A TCP proxy that can drop all data silently, like a network partition. */
export interface BlackholeProxy {
  readonly port: number
  shut(): void
  /** Forwards again; connections from before the partition are broken. */
  open(): void
}

export async function startBlackholeProxy(scope: Scope, targetPort: number): Promise<BlackholeProxy> {
  const sockets = new Set<Socket>()
  let isShut = false
  const server = createServer((client) => {
    const target = connect(targetPort, '127.0.0.1')
    join(client, target)
    join(target, client)
  }).listen(0, '127.0.0.1')

  function join(from: Socket, to: Socket): void {
    sockets.add(from)
    from.setNoDelay(true)
    from.on('data', (data) => {
      if (!isShut) to.write(data)
    })
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      if (!isShut) to.destroy()
    })
  }

  await once(server, 'listening')
  scope.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    port: (server.address() as AddressInfo).port,
    shut: () => {
      isShut = true
    },
    open: () => {
      isShut = false
      for (const socket of sockets) socket.destroy()
    },
  }
}
