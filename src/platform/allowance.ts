/** What a caller has left of a limit that a request was counted against. */
export interface Allowance {
  /** Its name in `RateLimit-Policy`. */
  readonly policy: string
  readonly limit: number
  /** The time in which the whole limit is allowed again, or the length of the quota's window. */
  readonly windowMs: number
  readonly remaining: number
  /** Until the whole limit is allowed again. */
  readonly resetMs: number
}

/**
 * Tells a client what is left, in header fields: those of draft-ietf-httpapi-ratelimit-headers (11), for each limit,
 * and the three of its early versions, which many clients know, for the one of which least is left.
 */
export function allowanceFields(allowances: readonly Allowance[]): Readonly<Record<string, string>> {
  const [first, ...others] = allowances
  if (first === undefined) return {}
  const tightest = others.reduce((least, each) => (each.remaining < least.remaining ? each : least), first)
  return {
    'RateLimit-Policy': allowances.map(policyItem).join(', '),
    RateLimit: allowances.map(remainingItem).join(', '),
    'RateLimit-Limit': String(tightest.limit),
    'RateLimit-Remaining': String(tightest.remaining),
    'RateLimit-Reset': String(wholeSeconds(tightest.resetMs)),
  }
}

function policyItem({ policy, limit, windowMs }: Allowance): string {
  return `"${policy}";q=${limit};w=${wholeSeconds(windowMs)}`
}

function remainingItem({ policy, remaining, resetMs }: Allowance): string {
  return `"${policy}";r=${remaining};t=${wholeSeconds(resetMs)}`
}

/** Whole seconds, rounded up: a client that waits that long is never too early. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000))
}
