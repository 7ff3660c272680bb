/** How long to wait before a worker is replaced. */
export interface Backoff {
  /** @param livedMs how long the dead worker had taken requests; 0 = it never did */
  nextDelayMs(livedMs: number): number
}

const soundMs = 10_000
const firstDelayMs = 100
const longestDelayMs = 10_000

/** Replaces a worker at once if it had lived for a while; if it dies again and again, after a longer wait each time. */
export function createBackoff(): Backoff {
  let earlyDeaths = 0

  return {
    nextDelayMs: (livedMs) => {
      if (livedMs >= soundMs) earlyDeaths = 0
      const delayMs = earlyDeaths === 0 ? 0 : firstDelayMs * 2 ** (earlyDeaths - 1)
      earlyDeaths++
      return Math.min(delayMs, longestDelayMs)
    },
  }
}
