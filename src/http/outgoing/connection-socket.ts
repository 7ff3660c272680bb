import type { Socket } from 'node:net'
import { DirectSocketReader, type SocketReader } from '../socket-reader.ts'
import type { ConnectionPersistence } from './response-head.ts'

/** How long an idle connection is kept if the upstream announces no limit: less than servers usually do. */
const defaultKeepAliveMs = 4_000
/** A connection is closed this long before the upstream will close it, as announced. */
const earlyCloseMs = 1_000

/** How long a connection may be reused after a response. */
export function reusableMs({ keepAliveMs }: ConnectionPersistence): number {
  return Math.max(0, (keepAliveMs ?? defaultKeepAliveMs + earlyCloseMs) - earlyCloseMs)
}

/**
 * Closes a connection that is not reused, with a reset unless the target expects the end. Without one, the side that
 * closes first holds its port for a minute, and clients who only request such responses could use up all ports.
 */
export function closeConnection(socket: Socket, { isExpected }: { readonly isExpected: boolean }): void {
  // A Unix socket has no port to hold, and no reset.
  const canBeReset = !('encrypted' in socket) && socket.remoteAddress !== undefined
  if (isExpected || !canBeReset || socket.destroyed) socket.destroy()
  else socket.resetAndDestroy()
}

type Done = (error?: Error | null) => void

/**
 * Keeps a socket open after a failed write, as Node would destroy it with the data that was received but not yet read.
 * Each write then costs a little more. Idempotent.
 * @param mayStillAnswer called before each write: whether there could still be something to read if the write failed
 * @param onWriteError called for each such failure; returns whether there is something to read
 */
export function catchWriteErrors(
  socket: Socket,
  mayStillAnswer: () => boolean,
  onWriteError: (error: Error) => boolean,
): void {
  if (Object.hasOwn(socket, '_write')) return
  const { _write: write, _writev: writev } = socket
  function guarded(done: Done): Done {
    if (!mayStillAnswer()) return done
    return (error) => done(error && onWriteError(error) ? null : error)
  }
  socket._write = (chunk, encoding, done) => write.call(socket, chunk, encoding, guarded(done))
  if (writev) socket._writev = (chunks, done) => writev.call(socket, chunks, guarded(done))
}

/** Removes everything that a connection has installed on its socket, for a new owner. */
export function handOverSocket(socket: Socket, reader: SocketReader): void {
  // A connection made with a PooledSocketReader never carries an upgrade.
  if (reader instanceof DirectSocketReader) reader.release()
  socket.removeAllListeners()
  // The methods that catchWriteErrors installed would keep the connection alive, and all that it knows of the request.
  // The cast is sound: this is the prototype of a socket.
  const { _write: write, _writev: writev } = Object.getPrototypeOf(socket) as Socket
  socket._write = write
  if (writev) socket._writev = writev
  // The new owner adds its own listeners; until then an error must not be fatal.
  socket.on('error', () => {})
}
