import type { EpochMs } from '#platform/time.ts'
import type { Rate, RateResult } from '#store/rates.ts'

/** Proofs that have been used: each counts once, in all workers and instances. */
export interface ProofReplays {
  /**
   * Uses a proof. Synchronous where this process is the only one.
   * @param id of at most 64 characters
   * @param issuedAt when it was made
   * @param lifetimeMs how long it can be valid
   * @returns false where it may have been used before
   */
  use(id: string, issuedAt: EpochMs, lifetimeMs: number): boolean | Promise<boolean>
}

interface ProofReplaysOptions {
  /** As RateLimiter.take; undefined = no other process decides. */
  readonly take:
    | ((purpose: string, subject: string, rate: Rate) => RateResult | Promise<RateResult>)
    | undefined
  /** How many are kept; default 100,000, in some 12 MiB. */
  readonly entriesMax?: number
}

const defaultEntriesMax = 100_000
const secondMs = 1_000

/**
 * Keeps used proofs by the second in which they were made. Where there are too many, those of the oldest second are
 * forgotten, and from then on all of that time are refused: under a flood proofs have to be fresher, but none counts
 * twice. Other processes are asked by a rate of one use: while the store is unreachable, or has lost what it counted, a
 * proof counts once in each of them.
 */
export function createProofReplays({
  take,
  entriesMax = defaultEntriesMax,
}: ProofReplaysOptions): ProofReplays {
  const bySecond = new Map<number, Set<string>>()
  let size = 0
  /** Proofs of this second, and of those before it, are refused. */
  let forgotten = Number.NEGATIVE_INFINITY

  function useHere(id: string, second: number, keptSeconds: number): boolean {
    if (second <= forgotten) return false
    const used = bySecond.get(second) ?? begin(second, keptSeconds)
    if (used.has(id)) return false
    used.add(id)
    size++
    while (size > entriesMax) forget(Math.min(...bySecond.keys()))
    return true
  }

  /** Forgets proofs that are too old to be accepted by now. */
  function begin(second: number, keptSeconds: number): Set<string> {
    for (const known of bySecond.keys()) if (known < second - keptSeconds) forget(known)
    const used = new Set<string>()
    bySecond.set(second, used)
    return used
  }

  function forget(second: number): void {
    size -= bySecond.get(second)?.size ?? 0
    bySecond.delete(second)
    forgotten = Math.max(forgotten, second)
  }

  return {
    use: (id, issuedAt, lifetimeMs) => {
      const keptSeconds = Math.ceil(lifetimeMs / secondMs) + 1
      if (!useHere(id, Math.floor(issuedAt / secondMs), keptSeconds)) return false
      const taken = take?.('proof', id, { limit: 1, perMs: lifetimeMs })
      if (taken === undefined) return true
      return taken instanceof Promise ? taken.then(({ isAllowed }) => isAllowed) : taken.isAllowed
    },
  }
}
