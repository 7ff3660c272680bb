/** When subjects changed, as far back as needed. */
export interface RecentChanges {
  note(subject: string, at: number): void
  /** Whether a subject is known to have changed. */
  hasChanged(subject: string): boolean
  /** Whether a subject is known to have changed at or after a time. */
  hasChangedSince(subject: string, time: number): boolean
  /** Changes up to this time may have been forgotten, as there were too many; 0 = none was. */
  forgottenUntil(): number
}

const subjectsMax = 100_000

/** @param windowMs how long a change is remembered */
export function createRecentChanges(windowMs: number, clock: () => number): RecentChanges {
  /** In the order of noting, which is about that of the times. */
  const changedAt = new Map<string, number>()
  let forgottenUntil = 0

  function note(subject: string, at: number): void {
    const latest = Math.max(at, changedAt.get(subject) ?? at)
    changedAt.delete(subject)
    changedAt.set(subject, latest)
    for (const [oldest, time] of changedAt) {
      const isOver = time < clock() - windowMs
      if (!isOver && changedAt.size <= subjectsMax) return
      if (!isOver) forgottenUntil = Math.max(forgottenUntil, time)
      changedAt.delete(oldest)
    }
  }

  return {
    note,
    hasChanged: (subject) => changedAt.has(subject),
    hasChangedSince: (subject, time) => (changedAt.get(subject) ?? Number.NEGATIVE_INFINITY) >= time,
    forgottenUntil: () => forgottenUntil,
  }
}
