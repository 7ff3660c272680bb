/** How much of the quotas of accounts is used, in each window of UTC. */
export interface QuotaStore {
  /**
   * Takes requests of an account's quota, and reserves some more for the holder that asks, so that it need not ask for
   * each. Counted across instances, and kept over restarts. See takeOfQuota for what is granted.
   */
  takeQuota(take: QuotaTake): Promise<QuotaGrant>
}

export interface QuotaTake {
  readonly accountId: string
  /** The day (`2026-11-23`) or the month (`2026-11`). */
  readonly window: string
  /** Milliseconds since 1970. */
  readonly now: number
  /** When the window ends; what is kept of it goes some time later. */
  readonly endsAt: number
  /** Requests in the window. */
  readonly limit: number
  /** The process that asks; random. */
  readonly holder: string
  /** How many processes there are, at least 1: the more, the less each may reserve. */
  readonly holders: number
  /** Requests that wait; they pass at once if they are granted. 0 = nothing is reserved either. */
  readonly needed: number
  /** How many of its reservation the holder has left, and gives back. */
  readonly unused: number
  /** Requests that have passed without being counted, as the store was unreachable. */
  readonly uncounted: number
}

export interface QuotaGrant {
  /** At most `needed` and a reservation; less than `needed` = the quota is used up. */
  readonly granted: number
}

export interface QuotaState {
  /** All that was granted. */
  readonly granted: number
  /** What each process may have left of its reservation. */
  readonly held: ReadonlyMap<string, number>
}

/** How long the count of a window is kept after its end, as the clocks of instances differ. */
export const quotaKeptMs = 3_600_000

/** The most that all processes together reserve, and so the most by which a quota is exceeded: 1 %, and 100 requests. */
export function quotaSlack(limit: number): number {
  return Math.min(100, Math.floor(limit / 100))
}

/**
 * What is granted. Reservations of other processes may never be used, so they do not count against the limit: that is
 * how at least the limit passes, and at most `quotaSlack` more. Towards the end reservations become smaller, so that
 * hardly more than the limit passes. (scripts/take-quota.lua does the same.)
 */
export function takeOfQuota(
  state: QuotaState,
  { limit, holder, holders, needed, unused, uncounted }: QuotaTake,
): QuotaGrant & { readonly next: QuotaState } {
  const held = new Map(state.held)
  held.delete(holder)
  const used = state.granted - unused + uncounted
  const slack = quotaSlack(limit)
  let heldByOthers = 0
  for (const amount of held.values()) heldByOthers += amount
  const room = Math.max(0, limit + Math.min(heldByOthers, slack) - used)
  if (needed > room || needed === 0) {
    const granted = Math.min(needed, room)
    return { granted, next: { granted: used + granted, held } }
  }
  const reserved = Math.max(
    0,
    Math.min(
      Math.floor(slack / holders),
      slack - heldByOthers,
      Math.floor((limit - used - needed) / (2 * holders)),
    ),
  )
  if (reserved > 0) held.set(holder, reserved)
  return { granted: needed + reserved, next: { granted: used + needed + reserved, held } }
}
