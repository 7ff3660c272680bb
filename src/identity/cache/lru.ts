import { LRUCache } from 'lru-cache'

/** A map that evicts the least recently used entry. */
interface Lru<Value extends object> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  clear(): void
}

interface LruBytes<Value extends object> {
  /** For all entries together; one that is larger than this is not kept. */
  readonly bytesMax: number
  /** At least 1. */
  sizeOf(value: Value): number
}

/**
 * A cache that is allocated with its first entry, so that a start does not wait for it.
 * @param bytes needed if entries differ in length
 */
export function createLru<Value extends object>(entriesMax: number, bytes?: LruBytes<Value>): Lru<Value> {
  const limits = bytes && { maxSize: bytes.bytesMax, sizeCalculation: bytes.sizeOf }
  let entries: LRUCache<string, Value> | undefined

  function set(key: string, value: Value): void {
    entries ??= new LRUCache({ max: entriesMax, ...limits })
    entries.set(key, value)
  }

  return {
    get: (key) => entries?.get(key),
    set,
    delete: (key) => void entries?.delete(key),
    clear: () => entries?.clear(),
  }
}
