import { LRUCache } from 'lru-cache'

/** A map that forgets the entry used longest ago. */
export interface Lru<Value extends object> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  clear(): void
}

/** The cache is made with its first entry: room for 100,000 takes 15 ms, which a start should not wait for. */
export function createLru<Value extends object>(entriesMax: number): Lru<Value> {
  let entries: LRUCache<string, Value> | undefined

  function set(key: string, value: Value): void {
    entries ??= new LRUCache({ max: entriesMax })
    entries.set(key, value)
  }

  return {
    get: (key) => entries?.get(key),
    set,
    delete: (key) => void entries?.delete(key),
    clear: () => entries?.clear(),
  }
}
