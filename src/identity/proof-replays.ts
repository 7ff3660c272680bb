import type { Clock, EpochMs } from '#platform/time.ts'
import type { RateLimiter } from './limits/rate-limiter.ts'

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
  /** See RateLimiter.take; undefined = there is no other process. */
  readonly take: RateLimiter['take'] | undefined
  /** How many are kept; default 100,000, in some 12 MiB. */
  readonly entriesMax?: number
  readonly clock?: Clock
}

const defaultEntriesMax = 100_000
const secondMs = 1_000

/**
 * Keeps used proofs by the second in which they were made. If there are too many, those of the oldest second are
 * forgotten, and all proofs of that second and before are refused from then on: under a flood proofs have to be
 * fresher, but none counts twice. Proofs from the future, made by clocks that are ahead, would be forgotten last: they
 * may take a quarter of the room, and beyond that they are refused themselves. Other processes are asked by taking from
 * a rate that allows one use: while the store is unreachable, or has lost its counts, a proof can be used once in each
 * process.
 */
export function createProofReplays({
  take,
  entriesMax = defaultEntriesMax,
  clock = Date.now,
}: ProofReplaysOptions): ProofReplays {
  const bySecond = new Map<number, Set<string>>()
  let size = 0
  /** Proofs of this second, and of those before it, are refused. */
  let forgotten = Number.NEGATIVE_INFINITY

  function useHere(id: string, second: number, keptSeconds: number): boolean {
    if (second <= forgotten) return false
    const used = bySecond.get(second) ?? begin(second, keptSeconds)
    if (used.has(id) || !hasRoomFor(second)) return false
    used.add(id)
    size++
    while (size > entriesMax) forget(Math.min(...bySecond.keys()))
    return true
  }

  function hasRoomFor(second: number): boolean {
    const now = Math.floor(clock() / secondMs)
    if (second <= now) return true
    let ahead = 0
    for (const [other, { size }] of bySecond) if (other > now) ahead += size
    return ahead < entriesMax / 4
  }

  /** Begins to keep the proofs of a second, and forgets those that are too old to be accepted by now. */
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
