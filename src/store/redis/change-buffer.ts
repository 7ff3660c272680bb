import type { LoggedChange } from '../changes.ts'

/** Delays published changes while the log cannot be read. */
export interface ChangeBuffer {
  push(change: LoggedChange): void
  /** The log cannot be read now. */
  hold(): void
  /** The log has been read up to a position. */
  onLogRead(head: number): void
}

/** How long a published change is buffered at most. */
const holdMsMax = 2_000

/**
 * A published change may arrive before the store is reachable again, as after a partition: its account would be dropped
 * from the caches, and could not be looked up. Hence a published change is buffered until the log is readable, for
 * `holdMsMax` at most, as a known revocation must take effect.
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
    if (held.length === 0 && timer === undefined) return
    // Deferred until the reader of the log has recorded that the store is back.
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
