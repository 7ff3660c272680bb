import type { ActiveCheckOptions } from './health.ts'
import { HealthCheck } from './health-check.ts'
import type { Target } from './target.ts'

/**
 * Checks targets periodically: each once an interval, spread over the interval, never with two checks at a time.
 * @returns stops the checks
 */
export function openHealthChecks(targets: readonly Target[], options: ActiveCheckOptions): () => void {
  const stops = targets.map((target, index) => {
    // Processes that start together must not all check at the same moment.
    const share = (index + Math.random()) / targets.length
    return checkRepeatedly(target, options, share * options.intervalMs)
  })
  return () => {
    for (const stop of stops) stop()
  }
}

function checkRepeatedly(target: Target, options: ActiveCheckOptions, firstAfterMs: number): () => void {
  let check: HealthCheck | undefined
  let timer = setTimeout(begin, firstAfterMs).unref()

  function begin(): void {
    const begunAt = performance.now()
    // The result is known with the head: a slow body may still be arriving.
    check?.cancel()
    check = new HealthCheck(target, options, (result) => {
      if (result !== 'unknown') target.health?.recordCheck(result === 'healthy' ? undefined : result.failure)
      const waitMs = Math.max(0, options.intervalMs - (performance.now() - begunAt))
      timer = setTimeout(begin, waitMs).unref()
    })
    check.start()
  }

  return function stop() {
    clearTimeout(timer)
    check?.cancel()
  }
}
