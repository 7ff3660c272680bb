import type { EpochMs, MonotonicClock, MonotonicMs } from '#platform/time.ts'

/** When subjects have changed, as far back as needed. */
export interface RecentChanges {
  /** @param position in the change log, for those who ask for it */
  record(subject: string, at: EpochMs, position?: number): void
  /** Whether a subject is known to have changed. */
  hasChanged(subject: string): boolean
  /** Whether a subject is known to have changed at or after a time. */
  hasChangedSince(subject: string, time: EpochMs): boolean
  /** The position of its latest change; 0 = none is known. */
  positionOf(subject: string): number
  /** The changes that are known when the iteration begins; it may also return some that are recorded meanwhile. */
  all(): Iterable<KnownChange>
  /** Changes up to this time may have been dropped because there were too many; 0 = none was. */
  forgottenUntil(): EpochMs
}

const subjectsMax = 100_000

interface KnownChange {
  readonly subject: string
  /** When it was made. */
  readonly at: EpochMs
  readonly position: number
}

interface RecentChange extends Omit<KnownChange, 'subject'> {
  /** When it was recorded, whatever happens to the system's clock. */
  readonly recordedAt: MonotonicMs
}

/** @param windowMs how long a change is kept after it was recorded */
export function createRecentChanges(windowMs: number, monotonic: MonotonicClock): RecentChanges {
  /** In recording order. */
  const changes = new Map<string, RecentChange>()
  let forgottenUntil = 0

  function record(subject: string, at: EpochMs, position = 0): void {
    const recordedAt = monotonic()
    const before = changes.get(subject)
    changes.delete(subject)
    changes.set(subject, {
      at: Math.max(at, before?.at ?? at),
      position: Math.max(position, before?.position ?? position),
      recordedAt,
    })
    for (const [oldest, change] of changes) {
      const isOver = change.recordedAt < recordedAt - windowMs
      if (!isOver && changes.size <= subjectsMax) return
      if (!isOver) forgottenUntil = Math.max(forgottenUntil, change.at)
      changes.delete(oldest)
    }
  }

  function* all(): Iterable<KnownChange> {
    let left = changes.size
    // A subject that changes meanwhile moves to the end: without the count, the iteration might never end.
    for (const [subject, { at, position }] of changes) {
      if (left-- === 0) return
      yield { subject, at, position }
    }
  }

  return {
    record,
    all,
    positionOf: (subject) => changes.get(subject)?.position ?? 0,
    hasChanged: (subject) => changes.has(subject),
    hasChangedSince: (subject, time) => (changes.get(subject)?.at ?? Number.NEGATIVE_INFINITY) >= time,
    forgottenUntil: () => forgottenUntil,
  }
}
