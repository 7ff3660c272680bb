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
/** After how much of silence, in ticks, it is to show whether the client is there. */
const silentTicks = 4
/** To the first probe one that has left answers with a reset, which the next one meets, or the one after that. */
const probesMax = 4

/**
 * A client that has closed its side may wait for its answer, or may have left: that shows only when something is
 * written to it. So after a second of silence it is sent a few `102`, which a client has to bear with (RFC 9110
 * 15.2); where they meet no reset it is waited with for as long as the target may take. Where no `102` may be sent
 * silence means that it has left: to HTTP/1.0 before its answer, and in an answer to HTTP/1.1, as whoever leaves a
 * stream closes its side first. One of HTTP/1.0 whose answer has begun is waited with: the timeouts of its target
 * hold. While the connection is lent whoever has it writes to it soon, and nobody else may.
 * @returns how to stop before it has closed
 */
export function watchHalfClosed(connection: HalfClosed, isLent: () => boolean | undefined): () => void {
  const { socket } = connection
  let written = socket.bytesWritten
  let silent = 0
  let probes = 0

  function tick(): void {
    // Of what the client has yet to take the system tells whether it is there: a slow reader is not silent.
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
