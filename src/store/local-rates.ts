import { hash } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import type { Rate, RateResult } from './rates.ts'

export interface LocalRates {
  take(subject: string, rate: Rate): RateResult
  /** How many subjects are kept. */
  size(): number
}

/**
 * How many subjects are kept at most, in no more than 24 MiB. Settled ones are removed sooner; beyond the limit the
 * least indebted of a small sample is evicted, so that a flood of new subjects evicts itself rather than those that
 * have used up their limit.
 */
const subjectsMax = 100_000
/** How often settled ones are looked for, in uses, and how many are visited then: more than uses may have added. */
const usesPerSweep = 16
const sweptMax = 2 * usesPerSweep
/** How many are compared for an eviction. */
const evictionCandidatesMax = 8
/** How long a subject may be to be kept as it is. */
const subjectLengthMax = 64

/** How long it takes, from `at` on, until all that a subject took is given back. */
interface Debt {
  at: number
  /** A duration: an absolute time would leave a number no precision for fractions of an interval. */
  owedMs: number
}

/**
 * Rates of this process only (GCRA): as many at once as the limit, then one each time a slot is free again.
 * @param clock monotonic, as rates are spans
 */
export function createLocalRates(clock: Clock): LocalRates {
  // Entries are changed in place: a Map that is deleted from and added to by the same key walks over all that it
  // deleted there.
  const debts = new Map<string, Debt>()
  /** A cursor over the map that starts again at its end; a new iterator would walk over what was deleted there. */
  let sweep = debts.entries()
  let usesUntilSweep = usesPerSweep

  function take(subject: string, { limit, perMs }: Rate): RateResult {
    const key = rateKey(subject)
    const now = clock()
    if (--usesUntilSweep === 0) sweepSettled(now)
    const intervalMs = perMs / limit
    const debt = debts.get(key)
    const beforeMs = remainingDebtMs(debt, now)
    const afterMs = beforeMs + intervalMs
    const excessMs = afterMs - perMs
    // Less than a millionth of a slot is rounding.
    if (excessMs > intervalMs / 1_000_000) {
      // The clock was set back: the debt runs off from now on, not only once the clock has reached the old time.
      if (debt && now < debt.at) setDebt(key, debt, { at: now, owedMs: beforeMs })
      return { isAllowed: false, remaining: 0, retryMs: Math.ceil(excessMs), resetMs: Math.ceil(beforeMs) }
    }
    setDebt(key, debt, { at: now, owedMs: afterMs })
    const remaining = Math.floor((perMs - afterMs) / intervalMs + 0.001)
    return { isAllowed: true, remaining, retryMs: 0, resetMs: Math.ceil(afterMs) }
  }

  function setDebt(key: string, debt: Debt | undefined, { at, owedMs }: Debt): void {
    if (debt) {
      debt.at = at
      debt.owedMs = owedMs
      return
    }
    if (debts.size >= subjectsMax) evictLeast(at)
    debts.set(key, { at, owedMs })
  }

  function sweepSettled(now: number): void {
    usesUntilSweep = usesPerSweep
    for (let left = Math.min(sweptMax, debts.size); left > 0; left--) {
      const entry = nextEntry()
      if (entry === undefined) return
      const [key, debt] = entry
      if (remainingDebtMs(debt, now) === 0) debts.delete(key)
    }
  }

  function evictLeast(now: number): void {
    let least: string | undefined
    let leastMs = Number.POSITIVE_INFINITY
    for (let count = 0; count < evictionCandidatesMax; count++) {
      const [key, debt] = nextEntry() ?? []
      const owedMs = remainingDebtMs(debt, now)
      if (key === undefined || owedMs >= leastMs) continue
      least = key
      leastMs = owedMs
    }
    if (least !== undefined) debts.delete(least)
  }

  /** undefined only where there is none at all. */
  function nextEntry(): [string, Debt] | undefined {
    const { value, done } = sweep.next()
    if (!done) return value
    sweep = debts.entries()
    return sweep.next().value
  }

  return { take, size: () => debts.size }
}

function remainingDebtMs(debt: Debt | undefined, now: number): number {
  return debt ? Math.max(0, debt.owedMs - Math.max(0, now - debt.at)) : 0
}

/**
 * The key of a rate's subject: itself, or its SHA-256 where it is long. Subjects hold texts that clients
 * choose, and a counter must cost no more for a long one.
 * @returns at most 64 characters
 */
export function rateKey(subject: string): string {
  return subject.length <= subjectLengthMax ? subject : hash('sha256', subject, 'base64url')
}
