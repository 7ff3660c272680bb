import type { Rate, Taken } from './store.ts'

export interface LocalRates {
  take(subject: string, rate: Rate): Taken
}

/** Subjects remembered at most; the one used longest ago is forgotten first. */
const subjectsMax = 100_000

/** Rates of this process alone (GCRA): as many at once as the limit, then one each time a place is free again. */
export function createLocalRates(clock: () => number): LocalRates {
  /** When all that a subject took will have been given back; in the order of their last use. */
  const fullAt = new Map<string, number>()

  function take(subject: string, { limit, perMs }: Rate): Taken {
    const now = clock()
    const intervalMs = perMs / limit
    const before = Math.max(fullAt.get(subject) ?? 0, now)
    const after = before + intervalMs
    const excessMs = after - perMs - now
    // Less than a thousandth of a millisecond is rounding.
    if (excessMs > 0.001) {
      return {
        isAllowed: false,
        remaining: 0,
        retryMs: Math.ceil(excessMs),
        resetMs: Math.ceil(before - now),
      }
    }
    fullAt.delete(subject)
    fullAt.set(subject, after)
    forgetOldest()
    const remaining = Math.floor((perMs - (after - now)) / intervalMs + 0.001)
    return { isAllowed: true, remaining, retryMs: 0, resetMs: Math.ceil(after - now) }
  }

  function forgetOldest(): void {
    if (fullAt.size <= subjectsMax) return
    for (const subject of fullAt.keys()) {
      fullAt.delete(subject)
      return
    }
  }

  return { take }
}
