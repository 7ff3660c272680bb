/** How long to wait before a worker is replaced. */
export interface Backoff {
  /** @param uptimeMs how long the dead worker had served requests; 0 = it never did */
  nextDelayMs(uptimeMs: number): number
}

const stableUptimeMs = 10_000
const firstDelayMs = 100
const longestDelayMs = 10_000

/** Replaces a worker immediately if it had run for a while; if it keeps dying, after an increasing delay. */
export function createBackoff(): Backoff {
  let earlyExits = 0

  return {
    nextDelayMs: (uptimeMs) => {
      if (uptimeMs >= stableUptimeMs) earlyExits = 0
      const delayMs = earlyExits === 0 ? 0 : firstDelayMs * 2 ** (earlyExits - 1)
      earlyExits++
      return Math.min(delayMs, longestDelayMs)
    },
  }
}
