import { readdirSync, readFileSync } from 'node:fs'

/** Descriptors kept free for files, the store and upstreams. */
const reservedDescriptors = 16
/** For how many connections one count is valid, and how long. */
const connectionsPerCount = 8
const countMaxAgeMs = 100

/**
 * Whether another connection may be accepted. Without a free descriptor libuv accepts and closes connections silently:
 * so the last ones are kept free, and further connections are dropped where that can be counted.
 * @param openConnections how many connections there are
 */
export type MayAccept = (openConnections: number) => boolean

/** If the limit is not known (systems other than Linux) every connection is accepted. */
export function watchDescriptors(limit = descriptorsMax(), count = countDescriptors): MayAccept {
  if (limit === undefined) return () => true
  let used = count()
  let countedAt = performance.now()
  let connectionsAtCount = 0

  return function mayAccept(openConnections) {
    // Each may need another one for its upstream: counting is only worth the call if that could be too many. Other
    // descriptors may have doubled since the last count: files that are opened later.
    const others = used - connectionsAtCount
    if (others * 2 + openConnections * 2 + reservedDescriptors < limit) return true
    const now = performance.now()
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

/** Without a descriptor left they cannot be counted. */
function countDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
