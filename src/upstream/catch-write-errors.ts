import type { Socket } from 'node:net'

/** How long to read on for a response that the target sent before it stopped reading. */
export const drainGraceMs = 1_000

type Done = (error?: Error | null) => void

/**
 * Keeps a socket open after a failed write: Node would destroy it, with the data that were received but not read yet.
 * @param mayStillAnswer asked before each write: whether there could be something to read if it failed
 * @param onWriteError called for each such failure; returns whether there is something to read
 */
export function catchWriteErrors(
  socket: Socket,
  mayStillAnswer: () => boolean,
  onWriteError: (error: Error) => boolean,
): void {
  const { _write: write, _writev: writev } = socket
  function guarded(done: Done): Done {
    if (!mayStillAnswer()) return done
    return (error) => done(error && onWriteError(error) ? null : error)
  }
  socket._write = (chunk, encoding, done) => write.call(socket, chunk, encoding, guarded(done))
  if (writev) socket._writev = (chunks, done) => writev.call(socket, chunks, guarded(done))
}
