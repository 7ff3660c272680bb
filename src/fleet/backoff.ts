/** How long to wait before a worker is replaced. */
export interface Backoff {
  /** @param livedMs how long the one that died had taken requests; 0 = it never came so far */
  nextDelayMs(livedMs: number): number
}

const soundMs = 10_000
const firstDelayMs = 100
const longestDelayMs = 10_000

/** At once where the worker had lived; one that dies again and again is waited for longer each time. */
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
