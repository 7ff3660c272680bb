import { hash } from 'node:crypto'
import type { MonotonicClock, MonotonicMs } from '#platform/time.ts'
import { type Debtor, Debts } from './debts.ts'
import type { CountedPurpose, Rate, RateResult } from './rates.ts'

/** A rate that is counted often, with a hint: the place of the subject that was counted last. */
export interface HintedRate extends Rate {
  /** -1 = nobody has been counted. Absent = no hint is kept. */
  recentPlace?: number
}

/**
 * How many subjects are kept at most, in 12 MiB or less: with more, the table of a Map would double. Settled ones are
 * removed earlier; beyond the limit the least indebted of a small sample is evicted, so that a flood of new subjects
 * evicts itself rather than those that have used up their limit.
 */
const subjectsMax = 65_536
/** How often settled subjects are searched for while there are uses: all are visited within 21 s. */
const sweepIntervalMs = 10
/** After this many additions settled subjects are searched for too, and this many are visited: more than were added. */
const additionsPerSweep = 16
const sweptMax = 2 * additionsPerSweep
/** How long settled subjects are kept: most come back soon, and adding one is expensive. */
const settledKeptMs = 1_000
/** How many are compared for an eviction. */
const evictionCandidatesMax = 8
/** Longer subjects are replaced by their digest. */
const subjectLengthMax = 64

/** Rates of this process only (GCRA): the whole limit at once, then one each time a slot is free again. */
export function createLocalRates(monotonic: MonotonicClock) {
  const debts = new Debts(subjectsMax)
  let sweepAt = Number.NEGATIVE_INFINITY
  let additionsUntilSweep = additionsPerSweep

  /** As `RateStore.takeFromRate`. */
  function take(purpose: CountedPurpose, subject: string, rate: HintedRate): RateResult {
    const { limit, perMs, recentPlace } = rate
    const now = monotonic()
    if (now >= sweepAt) sweepSettled(now)
    const intervalMs = perMs / limit
    const recent = debts.check(purpose, subject, recentPlace)
    const key = recent === undefined ? rateKey(subject) : subject
    const place = recent ?? debts.find(purpose, key)
    const owedMs = place === undefined ? 0 : debts.remainingMs(place, now)
    // More is owed after a longer window, that of another plan or config: it counts as the whole limit of this one.
    const beforeMs = Math.min(owedMs, perMs)
    const afterMs = beforeMs + intervalMs
    const excessMs = afterMs - perMs
    // Less than a millionth of a slot is rounding.
    if (excessMs > intervalMs / 1_000_000) {
      if (place !== undefined && owedMs > perMs) debts.set(place, now, perMs)
      return { isAllowed: false, remaining: 0, retryMs: Math.ceil(excessMs), resetMs: Math.ceil(beforeMs) }
    }
    const usedPlace = place ?? addDebt({ purpose, subject: key }, now)
    debts.set(usedPlace, now, afterMs)
    if (recentPlace !== undefined && recentPlace !== usedPlace) rate.recentPlace = usedPlace
    const remaining = Math.floor((perMs - afterMs) / intervalMs + 0.001)
    return { isAllowed: true, remaining, retryMs: 0, resetMs: Math.ceil(afterMs) }
  }

  /** @returns its place */
  function addDebt(debtor: Debtor, now: MonotonicMs): number {
    if (--additionsUntilSweep === 0) sweepSettled(now)
    if (debts.size >= subjectsMax) evictLeast(now)
    return debts.add(debtor)
  }

  function sweepSettled(now: MonotonicMs): void {
    sweepAt = now + sweepIntervalMs
    additionsUntilSweep = additionsPerSweep
    for (let left = Math.min(sweptMax, debts.size); left > 0; left--) {
      const debt = debts.next()
      if (debt === undefined) return
      if (debts.remainingMs(debt.place, now - settledKeptMs) === 0) debts.delete(debt)
    }
  }

  function evictLeast(now: MonotonicMs): void {
    let least: Debtor | undefined
    let leastMs = Number.POSITIVE_INFINITY
    for (let count = 0; count < evictionCandidatesMax; count++) {
      const debt = debts.next()
      if (debt === undefined) return
      const owedMs = debts.remainingMs(debt.place, now)
      if (owedMs >= leastMs) continue
      least = debt
      leastMs = owedMs
    }
    if (least !== undefined) debts.delete(least)
  }

  return {
    take,
    size: () => debts.size,
  }
}

/**
 * The key of a rate's subject: itself, or its SHA-256 if it is long. Clients choose the texts of subjects, and a
 * counter must not cost more for a long one.
 * @returns at most 64 characters
 */
export function rateKey(subject: string): string {
  return subject.length <= subjectLengthMax ? subject : hash('sha256', subject, 'base64url')
}
