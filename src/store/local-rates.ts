import type { Rate, Taken } from './store.ts'

export interface LocalRates {
  take(subject: string, rate: Rate): Taken
}

/** How many subjects are remembered at most; the one used longest ago is forgotten first. */
const subjectsMax = 100_000

/** How long it takes, from `at` on, until all that a subject took is given back. */
interface Debt {
  readonly at: number
  /** A duration: an absolute time would leave a number no precision for fractions of an interval. */
  readonly owedMs: number
}

/** Rates of this process only (GCRA): as many at once as the limit, then one each time a place is free again. */
export function createLocalRates(clock: () => number): LocalRates {
  /** In the order of their last use. */
  const debts = new Map<string, Debt>()

  function take(subject: string, { limit, perMs }: Rate): Taken {
    const now = clock()
    const intervalMs = perMs / limit
    const debt = debts.get(subject)
    const beforeMs = owedNow(debt, now)
    const afterMs = beforeMs + intervalMs
    const excessMs = afterMs - perMs
    // Less than a millionth of a place is rounding.
    if (excessMs > intervalMs / 1_000_000) {
      // The clock was set back: the debt runs off from now on, not only once the clock has reached the old time.
      if (debt && now < debt.at) debts.set(subject, { at: now, owedMs: beforeMs })
      return { isAllowed: false, remaining: 0, retryMs: Math.ceil(excessMs), resetMs: Math.ceil(beforeMs) }
    }
    debts.delete(subject)
    debts.set(subject, { at: now, owedMs: afterMs })
    forgetOldest()
    const remaining = Math.floor((perMs - afterMs) / intervalMs + 0.001)
    return { isAllowed: true, remaining, retryMs: 0, resetMs: Math.ceil(afterMs) }
  }

  function forgetOldest(): void {
    if (debts.size <= subjectsMax) return
    for (const subject of debts.keys()) {
      debts.delete(subject)
      return
    }
  }

  return { take }
}

function owedNow(debt: Debt | undefined, now: number): number {
  return debt ? Math.max(0, debt.owedMs - Math.max(0, now - debt.at)) : 0
}
