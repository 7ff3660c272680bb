/** Stops everything that the bench has started when it finishes or fails, in reverse order. */
export interface Scope {
  teardown(end: () => unknown): void
}

/** Runs work in a new scope. */
export async function inScope<Result>(work: (scope: Scope) => Promise<Result>): Promise<Result> {
  const ends: (() => unknown)[] = []
  try {
    return await work({ teardown: (end) => void ends.push(end) })
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}
