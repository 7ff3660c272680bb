import type { Socket } from 'node:net'

type Done = (error?: Error | null) => void

/**
 * Lets a socket outlive a failed write: Node would destroy it, together with what has been received and not
 * been read yet.
 * @param mayBeRead asked before each write: whether its failure could leave something to read
 * @param isToBeRead told of each such failure: whether there is
 */
export function catchWriteErrors(
  socket: Socket,
  mayBeRead: () => boolean,
  isToBeRead: (error: Error) => boolean,
): void {
  const { _write: write, _writev: writev } = socket
  function caught(done: Done): Done {
    if (!mayBeRead()) return done
    return (error) => done(error && isToBeRead(error) ? null : error)
  }
  socket._write = (chunk, encoding, done) => write.call(socket, chunk, encoding, caught(done))
  if (writev) socket._writev = (chunks, done) => writev.call(socket, chunks, caught(done))
}
