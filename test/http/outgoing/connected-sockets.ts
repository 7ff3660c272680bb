import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { Test } from 'tap'

/** The sockets that this process connects from now on. */
export function connectedSockets(t: Test): Socket[] {
  const sockets: Socket[] = []
  // The cast is sound: it is what Node publishes there.
  const onSocket = (message: unknown) => void sockets.push((message as { socket: Socket }).socket)
  subscribe('net.client.socket', onSocket)
  t.teardown(() => unsubscribe('net.client.socket', onSocket))
  return sockets
}
