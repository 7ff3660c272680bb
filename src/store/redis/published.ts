import type { LoggedChange } from '../store.ts'

/** What is published, from when on it counts. */
export interface Published {
  hear(change: LoggedChange): void
  /** The log cannot be read now. */
  hold(): void
  /** The log has been read up to a position. */
  caughtUp(head: number): void
}

/** How long what was heard waits for the log at most. */
const heldForMs = 2_000

/**
 * What is published may come before the store can be asked again, as after a partition: whoever it is about
 * would be dropped from the caches, and could not be looked up. So it waits until the log can be read, which
 * tells the same; but not long: what is known to be revoked must not go on.
 */
export function createPublished(tell: (change: LoggedChange) => void): Published {
  let isHeld = true
  let held: LoggedChange[] = []
  let timer: NodeJS.Timeout | undefined

  function hear(logged: LoggedChange): void {
    if (isHeld) {
      held.push(logged)
      timer ??= setTimeout(release, heldForMs).unref()
    } else tell(logged)
  }

  function release(): void {
    clearTimeout(timer)
    timer = undefined
    const due = held
    held = []
    for (const logged of due) tell(logged)
  }

  function caughtUp(head: number): void {
    isHeld = false
    held = held.filter(({ position }) => position > head)
    // Once whoever has read the log knows that the store is back.
    setImmediate(release)
  }

  return {
    hear,
    hold: () => {
      isHeld = true
    },
    caughtUp,
  }
}
