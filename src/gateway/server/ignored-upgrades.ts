import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log/log.ts'

/** How long nothing more is said about a route: clients of a WebSocket try again and again. */
const intervalMs = 60_000

/**
 * Creates the function that logs a WebSocket upgrade on a route without `websocket`, which is forwarded as an ordinary
 * request: its client sees only that it failed. Once a minute for each route.
 */
export function createIgnoredUpgradeLog(log: Pick<Log, 'warn'>, clock: Clock): (route: string) => void {
  const loggedAt = new Map<string, number>()
  return function logIgnoredUpgrade(route) {
    const now = clock()
    if (now - (loggedAt.get(route) ?? Number.NEGATIVE_INFINITY) < intervalMs) return
    loggedAt.set(route, now)
    log.warn({ route }, 'WebSocket upgrade forwarded as an ordinary request: the route lacks websocket: true')
  }
}
