import { readFileSync } from 'node:fs'
import type { Test } from 'tap'

/** How long a change may take to be known everywhere, at most. */
export const revocationMs = 500

/**
 * Begins to measure what may take so long. Not counted is how long this thread was ready to run, and the machine ran
 * others: on an idle machine that is nothing, and what is slow by itself fails on any. (Linux says so; elsewhere all
 * counts.)
 * @returns to be called once it is there: asserts that it was in time
 */
export function startPromise(t: Test, atMostMs = revocationMs): (what?: string) => void {
  const startedAt = performance.now()
  const waitedBefore = waitedMs()
  return (what = 'within what is promised') => {
    const tookMs = performance.now() - startedAt
    const othersMs = waitedMs() - waitedBefore
    t.ok(
      tookMs - othersMs < atMostMs,
      `${what}: ${tookMs.toFixed(0)} ms, of which others ran for ${othersMs.toFixed(0)}`,
    )
  }
}

/** How long the main thread has waited for a processor since it began. */
function waitedMs(): number {
  try {
    const [, waitedNs] = readFileSync('/proc/self/schedstat', 'latin1').split(' ')
    return Number(waitedNs) / 1e6
  } catch {
    return 0
  }
}
