import type { LoggedChange } from '../store/changes.ts'
import type { Store } from '../store/store.ts'

/** One store for several users that come and go, each with its own listeners. */
export interface SharedStore {
  /** The store for users that do not listen for changes. */
  readonly whole: Store
  /** The store for one more user, whose listeners are removed by `release`. */
  lease(): { readonly store: Store; release(): void }
}

export function createSharedStore(store: Store): SharedStore {
  const all = new Set<(change: LoggedChange) => void>()
  store.onChange((change) => {
    for (const listener of all) listener(change)
  })

  function lease(): ReturnType<SharedStore['lease']> {
    const own: ((change: LoggedChange) => void)[] = []
    return {
      store: {
        ...store,
        onChange: (listener) => {
          own.push(listener)
          all.add(listener)
        },
      },
      release: () => {
        for (const listener of own) all.delete(listener)
      },
    }
  }

  return { whole: store, lease }
}
