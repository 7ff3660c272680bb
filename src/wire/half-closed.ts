import type { Socket } from 'node:net'
import type { RequestHead } from './request-head.ts'

/** A connection whose client has closed its side. */
interface HalfClosed {
  readonly socket: Socket
  readonly head: RequestHead | undefined
  readonly isHeadSent: boolean
  breakOff(): void
  inform(status: number, reason: string, lines: string): boolean
}

const tickMs = 250
/** After so many silent ticks the client is probed. */
const silentTicks = 4
/** A client that has left answers the first probe with a reset, which the second or third probe meets. */
const probesMax = 4

/**
 * A client that has closed its side may wait for its answer, or may have left: that shows only when something is
 * written to it. So after a second of silence it is sent a few `102`, which a client has to accept (RFC 9110 15.2); if
 * none of them meets a reset the client is waited for as long as the target may take. Where no `102` may be sent,
 * silence means that the client has left: HTTP/1.0 before its answer, and HTTP/1.1 within its answer, since a client
 * that abandons a stream closes its side first. A client of HTTP/1.0 whose answer has begun is waited for: the
 * timeouts of its target apply. While the connection is lent, its borrower writes to it soon, and nothing else may.
 * @returns stops watching before the connection has closed
 */
export function watchHalfClosed(connection: HalfClosed, isLent: () => boolean | undefined): () => void {
  const { socket } = connection
  let written = socket.bytesWritten
  let silent = 0
  let probes = 0

  function tick(): void {
    // While the client has data left to read the system itself notices if it is gone: a slow reader is not silent.
    const isSilent = socket.bytesWritten === written && socket.writableLength === 0 && !isLent()
    silent = isSilent ? silent + 1 : 0
    if (silent >= silentTicks && probes < probesMax) probe()
    written = socket.bytesWritten
  }

  function probe(): void {
    const { head, isHeadSent } = connection
    if (head?.minorVersion === 1 && !isHeadSent) {
      probes++
      connection.inform(102, 'Processing', '')
    } else if (head?.minorVersion !== 0 || !isHeadSent) connection.breakOff()
  }

  const timer = setInterval(tick, tickMs)
  const stop = () => clearInterval(timer)
  socket.once('close', stop)
  return stop
}
