import type { IncomingMessage } from 'node:http'

/** How much more of a body is read after the answer, and for how long, so that the client sees the answer. */
const discardedBytesMax = 1_048_576
const discardedMs = 2_000

/**
 * To be called when an answer goes out before the whole request has come in. Closing at once would reset
 * the connection, and the client, still sending, might never see the answer (RFC 9112 9.6): what it sends
 * is thrown away for a while instead.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) return
  const { socket } = request
  const readBytesMax = socket.bytesRead + discardedBytesMax
  const giveUp = setTimeout(() => socket.destroy(), discardedMs)
  const closeSoon = socket.destroySoon
  let isClosing = false
  // Node calls this right after an answer that ends the connection: only the sending side is closed now.
  socket.destroySoon = () => {
    isClosing = true
    socket.end()
  }
  request.once('close', () => clearTimeout(giveUp))
  request.once('end', () => {
    clearTimeout(giveUp)
    socket.destroySoon = closeSoon
    if (isClosing) socket.destroySoon()
  })
  // Reading begins at once: of a body that nobody had begun to read Node would tell nothing any more.
  request.on('data', () => {
    if (socket.bytesRead > readBytesMax) socket.destroy()
  })
  request.resume()
}
