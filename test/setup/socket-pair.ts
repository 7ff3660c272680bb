import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import { portOf } from './net.ts'

/** Both ends of a connection: what is sent at one, and the text in Latin-1 that has come at the other. */
export async function connectSocketPair(t: Test) {
  const server = createServer()
  t.teardown(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect(portOf(server), '127.0.0.1')
  t.teardown(() => socket.destroy())
  const [other] = (await once(server, 'connection')) as [Socket]
  if (socket.connecting) await once(socket, 'connect')
  let received = ''
  other.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  return { socket, other, received: () => received }
}
