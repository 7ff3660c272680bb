import { readdirSync, readFileSync } from 'node:fs'
import { monotonicClock } from '#platform/time.ts'

/** Descriptors kept free for files, the store and upstreams. */
const reservedDescriptors = 16
/** For how many connections one count is valid, and for how long. */
const connectionsPerCount = 8
const countMaxAgeMs = 100

/**
 * Whether another connection may be accepted. Without a free descriptor libuv accepts and closes connections silently.
 * So the last descriptors are kept free, and further connections are dropped by the gateway, which counts them.
 * @returns a function of the number of open connections; if the limit is unknown (on systems other than Linux), it
 *   accepts every one
 */
export function watchDescriptors(limit = descriptorsMax(), count = countDescriptors) {
  if (limit === undefined) return () => true
  let used = count()
  let countedAt = monotonicClock()
  let connectionsAtCount = 0

  return function mayAccept(openConnections: number): boolean {
    // Each connection may need another one to its upstream: counting is only worthwhile if that could be too many.
    // Other descriptors, such as files that are opened later, may have doubled since the last count.
    const others = used - connectionsAtCount
    if (others * 2 + openConnections * 2 + reservedDescriptors < limit) return true
    const now = monotonicClock()
    if (
      now - countedAt > countMaxAgeMs ||
      Math.abs(openConnections - connectionsAtCount) >= connectionsPerCount
    ) {
      used = count()
      countedAt = now
      connectionsAtCount = openConnections
    }
    return used + openConnections - connectionsAtCount + reservedDescriptors < limit
  }
}

function descriptorsMax(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

/** Counting takes a free descriptor: without one, all count as used. */
function countDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
