import type { Socket } from 'node:net'
import type { ClientExchange } from '../client-exchange.ts'

/** A connection whose client has closed its side. */
interface HalfClosedConnection
  extends Pick<ClientExchange, 'head' | 'isHeadSent' | 'abort' | 'writeInformation'> {
  readonly socket: Socket
}

const tickMs = 100
/** The silent ticks after which a client is probed: at growing intervals, for clients with a long round trip. */
const probeTicks: readonly number[] = [5, 6, 8, 12]
/** After this many silent ticks, a client that cannot be probed counts as gone. */
const silentTicksMax = 7

/**
 * A client that has half-closed its connection may wait for its response, or be gone, which only shows when something
 * is written to it. So after half a second of silence it is sent a few `102`, which a client has to accept (RFC 9110
 * 15.2); one that is gone answers the first with a reset, which a later one meets. If none of them meets a reset, the
 * client may wait as long as the target may take. If no `102` may be sent, 0.7 s of silence mean that the client is
 * gone: in HTTP/1.0, and within a response, as a client that abandons a stream half-closes first. Nothing is written
 * while other code writes to the socket.
 * @returns a function that stops watching before the connection has closed
 */
export function watchHalfClosed(
  connection: HalfClosedConnection,
  writesToSocket: () => boolean | undefined,
): () => void {
  const { socket } = connection
  let written = socket.bytesWritten
  let silent = 0

  function tick(): void {
    // While the client has data left to read, TCP itself detects that it is gone: a slow reader is not silent.
    const isSilent = socket.bytesWritten === written && socket.writableLength === 0 && !writesToSocket()
    if (isSilent) {
      silent++
      onSilence()
    } else silent = 0
    // Excludes the probe, which does not end the silence.
    written = socket.bytesWritten
  }

  function onSilence(): void {
    const { head, isHeadSent } = connection
    if (head?.minorVersion === 1 && !isHeadSent) {
      if (probeTicks.includes(silent)) connection.writeInformation(102, 'Processing', '')
    } else if (silent >= silentTicksMax) connection.abort()
  }

  const timer = setInterval(tick, tickMs)
  const stop = () => clearInterval(timer)
  socket.once('close', stop)
  return stop
}
