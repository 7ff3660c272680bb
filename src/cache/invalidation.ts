import type { Change, Store } from '../store/store.ts'

export interface InvalidationOptions {
  readonly store: Pick<Store, 'readChanges' | 'onChange'>
  /** How often the change log is read. */
  readonly pollMs: number
  /** Forget what a change is about. */
  apply(change: Change): void
  /** Forget everything: what has changed cannot be told. */
  clear(): void
  /** The store has answered, or has not. */
  onContact(isUp: boolean, error?: unknown): void
}

export interface Invalidation {
  /** Reads the change log now; resolves whether or not the store answered. */
  poll(): Promise<void>
  close(): void
}

/**
 * Keeps the caches true to the store: what this process changes is dropped before the change is answered,
 * what others change when the log is read next. A gap in the log drops everything.
 */
export function openInvalidation(options: InvalidationOptions): Invalidation {
  const { store, pollMs, apply, clear, onContact } = options
  let position: number | undefined
  let running: Promise<void> | undefined

  async function read(): Promise<void> {
    try {
      const { head, changes } = await store.readChanges(position)
      // The first time there is no telling what has changed since something was looked up.
      if (changes === undefined || position === undefined) clear()
      else for (const change of changes) apply(change)
      position = head
      onContact(true)
    } catch (error) {
      onContact(false, error)
    }
  }

  function poll(): Promise<void> {
    running ??= read().finally(() => {
      running = undefined
    })
    return running
  }

  store.onChange(apply)
  const timer = setInterval(poll, pollMs)
  timer.unref()

  return { poll, close: () => clearInterval(timer) }
}
