import { setImmediate } from 'node:timers/promises'
import { isInTime } from '#platform/deadline.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { monotonicClock } from '#platform/time.ts'
import type { ArrivalServer } from './arrival-server.ts'

/** How long the last responses may take to be flushed. */
const flushTimeoutMs = 100

/** How long connections are taken from the accept backlog, at most. */
const backlogTimeoutMs = 5_000

// A turn of the event loop without a connection shows that the backlog is empty, or that another worker has taken the
// connection: so one such turn is not enough.
const idleTurnsMax = 2

/**
 * Closes a server gracefully: accepts no new connections, lets requests in flight complete, and waits until the open
 * connections have ended by themselves.
 * @returns false if requests were aborted at the deadline
 */
export async function drainServer(
  { servers, connections, handshakes, accepted, startDrain, abortOpen }: ArrivalServer,
  timeoutMs: number,
): Promise<boolean> {
  startDrain(timeoutMs)
  // A request may be in transit on an idle connection right now: its response gets Connection: close.
  const endsAt = monotonicClock() + timeoutMs
  await acceptBacklog(accepted, Math.min(timeoutMs / 2, backlogTimeoutMs))
  for (const server of servers) server.close()
  const sockets = () => [...[...connections].map(({ socket }) => socket), ...handshakes]
  const closed = Promise.all(
    sockets().map((socket) => new Promise((resolve) => socket.once('close', resolve))),
  )
  await isInTime(closed, Math.max(0, endsAt - monotonicClock()))
  const aborted = abortOpen(new GatehouseError('shutting-down'))
  if (aborted > 0) await isInTime(closed, flushTimeoutMs)
  for (const socket of sockets()) socket.destroy()
  return aborted === 0
}

/**
 * Takes the connections that wait in the accept backlog: closing the server would reset them, although their clients
 * consider them established. Call `close()` in the same turn after it.
 * @param accepted how many connections have been accepted
 * @param withinMs how long at most: under a flood the backlog is never empty
 */
async function acceptBacklog(accepted: () => number, withinMs: number): Promise<void> {
  const endsAt = monotonicClock() + withinMs
  let before = accepted()
  let idleTurns = 0
  while (idleTurns < idleTurnsMax && monotonicClock() < endsAt) {
    await setImmediate()
    idleTurns = accepted() === before ? idleTurns + 1 : 0
    before = accepted()
  }
}
