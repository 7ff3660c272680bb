import type { Clock } from '#platform/clock.ts'
import { createLru } from './lru.ts'

/** When subjects have changed, as far back as needed. */
interface RecentChanges {
  record(subject: string, at: number): void
  /** Whether a subject is known to have changed. */
  hasChanged(subject: string): boolean
  /** Whether a subject is known to have changed at or after a time. */
  hasChangedSince(subject: string, time: number): boolean
  /** Changes up to this time may have been dropped because there were too many; 0 = none was. */
  forgottenUntil(): number
}

const subjectsMax = 100_000

interface RecentChange {
  /** When it was made, in milliseconds since 1970. */
  readonly at: number
  /** When it was recorded, on the monotonic clock, as the system's clock may be set. */
  readonly recordedAt: number
}

/** @param windowMs how long a change is kept after it was recorded */
export function createRecentChanges(windowMs: number, monotonic: Clock): RecentChanges {
  /** In recording order. */
  const changes = new Map<string, RecentChange>()
  let forgottenUntil = 0

  function record(subject: string, at: number): void {
    const recordedAt = monotonic()
    const latest = Math.max(at, changes.get(subject)?.at ?? at)
    changes.delete(subject)
    changes.set(subject, { at: latest, recordedAt })
    for (const [oldest, change] of changes) {
      const isOver = change.recordedAt < recordedAt - windowMs
      if (!isOver && changes.size <= subjectsMax) return
      if (!isOver) forgottenUntil = Math.max(forgottenUntil, change.at)
      changes.delete(oldest)
    }
  }

  return {
    record,
    hasChanged: (subject) => changes.has(subject),
    hasChangedSince: (subject, time) => (changes.get(subject)?.at ?? Number.NEGATIVE_INFINITY) >= time,
    forgottenUntil: () => forgottenUntil,
  }
}

/** Secret keys that are known to be invalid for good. */
interface RevokedKeys {
  /** @param digest of a key that was reset, or that the store has just shown to be wrong */
  add(digest: Uint8Array): void
  has(digest: Uint8Array): boolean
  clear(): void
}

/** @param digestsMax how many are kept: those used last */
export function createRevokedKeys(digestsMax: number): RevokedKeys {
  const revoked = createLru<typeof isRevoked>(digestsMax)

  return {
    add: (digest) => revoked.set(textOf(digest), isRevoked),
    has: (digest) => revoked.get(textOf(digest)) !== undefined,
    clear: revoked.clear,
  }
}

const isRevoked = {}

function textOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString('base64')
}
