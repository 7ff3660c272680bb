/** What a revocation may concern: claims of an assertion or access token that was verified. */
export interface RevocableClaims {
  readonly sub?: unknown
  readonly sid?: unknown
  readonly iat?: unknown
  /** As of which change the gateway issued it; only in assertions. */
  readonly rev?: unknown
}

/** A revocation, as the gateway sends it. Times are in milliseconds since 1970. */
export type Revoked =
  | { readonly sid: string; readonly at: number }
  | { readonly sub: string; readonly rev: number; readonly at: number }

/** Everything that was revoked since a time, as far as something issued before it may still be valid. */
export interface KnownRevocations {
  /** @param now for the age of entries, on any clock that is not set */
  add(revoked: readonly Revoked[], now: number): void
  /** `unknown` = it was issued before the time since which revocations are known. */
  verdict(claims: RevocableClaims): 'valid' | 'revoked' | 'unknown'
}

interface Known {
  readonly at: number
  readonly rev: number
  readonly addedAt: number
}

/** As many as the gateway remembers. If there are more, older assertions are `unknown`. */
const entriesMax = 100_000

export function createKnownRevocations(options: {
  readonly since: number
  readonly keptMs: number
  readonly clockToleranceMs: number
}): KnownRevocations {
  const { keptMs, clockToleranceMs } = options
  let { since } = options
  const accounts = new Map<string, Known>()
  const sessions = new Map<string, Known>()

  function put(known: Map<string, Known>, id: string, entry: Known): void {
    const before = known.get(id)
    known.delete(id)
    known.set(id, {
      ...entry,
      at: Math.max(entry.at, before?.at ?? entry.at),
      rev: Math.max(entry.rev, before?.rev ?? entry.rev),
    })
    for (const [oldest, { at, addedAt }] of known) {
      const isOver = addedAt < entry.addedAt - keptMs
      if (!isOver && known.size <= entriesMax) return
      if (!isOver) since = Math.max(since, at)
      known.delete(oldest)
    }
  }

  /** Times of tokens are in whole seconds, and on the clock of another instance. */
  function mayPrecede(iat: unknown, time: number): boolean {
    return typeof iat !== 'number' || iat * 1_000 <= time + clockToleranceMs
  }

  function isOlder({ iat, rev }: RevocableClaims, change: Known): boolean {
    return typeof rev === 'number' ? rev < change.rev : mayPrecede(iat, change.at)
  }

  return {
    add: (revoked, addedAt) => {
      for (const entry of revoked) {
        if ('sid' in entry) put(sessions, entry.sid, { at: entry.at, rev: 0, addedAt })
        else put(accounts, entry.sub, { at: entry.at, rev: entry.rev, addedAt })
      }
    },
    verdict: (claims) => {
      const { sub, sid, iat } = claims
      const change = typeof sub === 'string' ? accounts.get(sub) : undefined
      const isEnded = typeof sid === 'string' && sessions.has(sid)
      if (isEnded || (change && isOlder(claims, change))) return 'revoked'
      return since > 0 && mayPrecede(iat, since) ? 'unknown' : 'valid'
    },
  }
}
