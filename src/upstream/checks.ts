import { Check } from './check.ts'
import type { ActiveTerms } from './health.ts'
import type { Target } from './target.ts'

/**
 * Checks targets again and again: each once an interval, spread over the interval, never with two checks at a time.
 * @returns ends the checks
 */
export function openChecks(targets: readonly Target[], terms: ActiveTerms): () => void {
  const stops = targets.map((target, index) => {
    // Processes that start together must not all check at the same moment.
    const share = (index + Math.random()) / targets.length
    return keepChecking(target, terms, share * terms.intervalMs)
  })
  return () => {
    for (const stop of stops) stop()
  }
}

function keepChecking(target: Target, terms: ActiveTerms, firstAfterMs: number): () => void {
  let check: Check | undefined
  let timer = setTimeout(begin, firstAfterMs).unref()

  function begin(): void {
    const begunAt = performance.now()
    // The verdict comes with the head: a slow body may still be arriving.
    check?.cancel()
    check = new Check(target, terms, (verdict) => {
      if (verdict !== 'unknown') target.health?.noteCheck(verdict === 'well' ? undefined : verdict.failure)
      const waitMs = Math.max(0, terms.intervalMs - (performance.now() - begunAt))
      timer = setTimeout(begin, waitMs).unref()
    })
    check.start()
  }

  return function stop() {
    clearTimeout(timer)
    check?.cancel()
  }
}
