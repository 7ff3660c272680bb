import type { LoggedChange } from '../changes.ts'

/** Delays published changes while the log cannot be read. */
export interface ChangeBuffer {
  push(change: LoggedChange): void
  /** The log cannot be read now. */
  hold(): void
  /** The log has been read up to a position. */
  onLogRead(head: number): void
}

/** How long a published change waits for the log at most. */
const holdMsMax = 2_000

/**
 * A published change may come before the store can be asked again, as after a partition: its account would be dropped
 * from the caches, and could not be looked up. So the change waits until the log can be read, which holds it too; but
 * not long: what is known to be revoked must not stay valid.
 */
export function createChangeBuffer(notify: (change: LoggedChange) => void): ChangeBuffer {
  let isHeld = true
  let held: LoggedChange[] = []
  let timer: NodeJS.Timeout | undefined

  function push(logged: LoggedChange): void {
    if (isHeld) {
      held.push(logged)
      timer ??= setTimeout(release, holdMsMax).unref()
    } else notify(logged)
  }

  function release(): void {
    clearTimeout(timer)
    timer = undefined
    const due = held
    held = []
    for (const logged of due) notify(logged)
  }

  function onLogRead(head: number): void {
    isHeld = false
    held = held.filter(({ position }) => position > head)
    // Deferred until the reader of the log has noted that the store is back.
    setImmediate(release)
  }

  return {
    push,
    hold: () => {
      isHeld = true
    },
    onLogRead,
  }
}
