import type { Socket } from 'node:net'

/** How long a client that has closed its side waits for more of an answer: it may have left altogether. */
const silenceMs = 1_000

/**
 * A client that has closed its side may wait for its answer, or may have left: that shows when something is
 * written to it. So it is kept for as long as something is, and a while.
 * @returns how to stop
 */
export function destroyWhenSilent(socket: Socket): () => void {
  let written = socket.bytesWritten
  const timer = setInterval(() => {
    if (socket.bytesWritten === written && !socket.writableNeedDrain) socket.destroy()
    written = socket.bytesWritten
  }, silenceMs)
  return () => clearInterval(timer)
}
