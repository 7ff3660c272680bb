/** A set of functions that are called with each event, in the order in which they were added. */
export function createListeners<Event>() {
  const listeners = new Set<(event: Event) => void>()
  return {
    notify: (event: Event): void => {
      for (const listener of listeners) listener(event)
    },
    /** @returns a function that removes it */
    add: (listener: (event: Event) => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
