import type { Arrival } from '../arrival/arrival.ts'
import { type Outcome, recordGrpcCall, recordStatus } from '../arrival/outcome.ts'
import { endGrpcCall, isGrpcCall } from '../refusals/grpc-calls.ts'

/** End a call whose credential was revoked while it was open: 16 is UNAUTHENTICATED. */
const revokedCallLines = 'grpc-status: 16\r\ngrpc-message: revoked\r\n'

interface GrpcCallsOptions {
  /** See OpenCallers. */
  followStream(arrival: Arrival, end: () => void): () => void
  /** All requests that have no complete response yet. */
  openArrivals(): Iterable<Arrival>
}

/**
 * How often open calls are looked for. Most end sooner; if the credential of a call was revoked in the meantime, that
 * is noticed when the call is found.
 */
const tickMs = 100

/**
 * Ends long-lived gRPC calls when their credential does, like WebSockets. The open requests are searched at intervals:
 * a list of all calls would keep each in memory until the next search.
 * @returns what to call with each call: when it is forwarded, as many backends begin their response only when they have
 *   something to say, or when its response shows that it is one
 */
export function createGrpcCallFollower({
  followStream,
  openArrivals,
}: GrpcCallsOptions): (outcome: Outcome) => void {
  /** The calls that are followed, and the function that stops following each. */
  const followed = new Map<Arrival, () => void>()
  let timer: NodeJS.Timeout | undefined

  function tick(): void {
    for (const [arrival, stop] of followed) {
      if (isOpen(arrival)) continue
      followed.delete(arrival)
      stop()
    }
    let isAnyOpen = false
    for (const arrival of openArrivals()) {
      const { mayBeGrpcCall, sentAt } = arrival.outcome
      if (!mayBeGrpcCall) continue
      // One that is not sent yet may wait for its connection for long, and is followed from then on.
      isAnyOpen = true
      if (sentAt === undefined || followed.has(arrival)) continue
      followed.set(
        arrival,
        followStream(arrival, () => end(arrival)),
      )
    }
    if (isAnyOpen) return
    clearInterval(timer)
    timer = undefined
  }

  return (outcome) => {
    recordGrpcCall(outcome)
    timer ??= setInterval(tick, tickMs).unref()
  }
}

function isOpen({ exchange, head }: Arrival): boolean {
  return exchange.head === head
}

function end(arrival: Arrival): void {
  const { exchange, head, outcome } = arrival
  if (!isOpen(arrival)) return
  // First: nothing of the backend's response may follow the trailers.
  exchange.detach()
  if (!exchange.isHeadSent) recordStatus(outcome, 401)
  if (exchange.isHttp2 && isGrpcCall(head)) endGrpcCall(arrival, revokedCallLines)
  else exchange.abort()
}
