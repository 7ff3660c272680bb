import type { Arrival } from './arrival.ts'
import { recordStatus } from './outcome.ts'
import { endGrpcCall, revokedCallLines } from './refusals/grpc-status.ts'
import type { WebSockets } from './web-sockets.ts'

/** The calls of gRPC that last: they end when their credential does, like WebSockets. */
export interface OpenCalls {
  /** A call is forwarded: many backends begin their response only when there is something to say. */
  onForwarded(arrival: Arrival): void
}

/** Most calls are over before it pays to follow their credential; one that is revoked until then is found at once. */
const tickMs = 100

interface OpenCall {
  readonly arrival: Arrival
  /** Set once it is followed. */
  stop: (() => void) | undefined
}

export function createOpenCalls({ followStream }: Pick<WebSockets, 'followStream'>): OpenCalls {
  const open = new Set<OpenCall>()
  let timer: NodeJS.Timeout | undefined

  function tick(): void {
    for (const call of open) {
      if (!isOpen(call)) {
        open.delete(call)
        call.stop?.()
      } else call.stop ??= followStream(call.arrival, () => end(call))
    }
    if (open.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    onForwarded: (arrival) => {
      open.add({ arrival, stop: undefined })
      timer ??= setInterval(tick, tickMs).unref()
    },
  }
}

function isOpen({ arrival: { connection, head } }: OpenCall): boolean {
  return connection.head === head
}

function end(call: OpenCall): void {
  const { connection, outcome } = call.arrival
  if (!isOpen(call)) return
  // First, as the response of the backend must not go on after its trailers.
  connection.detach()
  if (!connection.isHeadSent) recordStatus(outcome, 401)
  endGrpcCall(call.arrival, revokedCallLines)
}
