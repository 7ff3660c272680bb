import type { Socket } from 'node:net'
import { DirectSocketReader } from '../http1/direct-socket-reader.ts'
import type { SocketReader } from '../http1/socket-reader.ts'

/** Takes off all that a connection has put on its socket, for a new owner. */
export function handOverSocket(socket: Socket, reader: SocketReader): void {
  // A connection made with a PooledSocketReader never carries an upgrade.
  if (reader instanceof DirectSocketReader) reader.release()
  socket.removeAllListeners()
  // The new owner adds listeners of its own; until then an error must not be fatal.
  socket.on('error', () => {})
}
