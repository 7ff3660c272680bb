import type { Socket } from 'node:net'
import type { RequestHead } from './request-head.ts'

/** A connection whose client has closed its side. */
interface HalfClosedConnection {
  readonly socket: Socket
  readonly head: RequestHead | undefined
  readonly isHeadSent: boolean
  abort(): void
  writeInformation(status: number, reason: string, lines: string): boolean
}

const tickMs = 100
/** The silent ticks at which a client is probed: further and further apart, for those that are far away. */
const probeTicks: readonly number[] = [5, 6, 8, 12]
/** After so many silent ticks a client that cannot be probed counts as gone. */
const silentTicksMax = 7

/**
 * A client that has closed its side may wait for its answer, or may have left: that shows only when something is
 * written to it. So after half a second of silence it is sent a few `102`, which a client has to accept (RFC 9110
 * 15.2); one that has left answers the first with a reset, which a later one meets. If none of them meets a reset the
 * client is waited for as long as the target may take. Where no `102` may be sent, 0.7 s of silence mean that the
 * client has left: with HTTP/1.0, and within an answer, since a client that abandons a stream closes its side first.
 * While the connection is lent, its borrower writes to it soon, and nothing else may.
 * @returns stops watching before the connection has closed
 */
export function watchHalfClosed(
  connection: HalfClosedConnection,
  writesToSocket: () => boolean | undefined,
): () => void {
  const { socket } = connection
  let written = socket.bytesWritten
  let silent = 0

  function tick(): void {
    // While the client has data left to read the system itself notices if it is gone: a slow reader is not silent.
    const isSilent = socket.bytesWritten === written && socket.writableLength === 0 && !writesToSocket()
    if (isSilent) {
      silent++
      onSilence()
    } else silent = 0
    // After a probe, which does not end the silence.
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
