/** Whatever the bench starts is ended when it is over, however it ends; the last first. */
export interface Scope {
  teardown(end: () => unknown): void
}

/** Runs work in a scope of its own. */
export async function inScope<Result>(work: (scope: Scope) => Promise<Result>): Promise<Result> {
  const ends: (() => unknown)[] = []
  try {
    return await work({ teardown: (end) => void ends.push(end) })
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}
