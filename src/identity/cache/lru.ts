import { LRUCache } from 'lru-cache'

/** A map that evicts the least recently used entry. */
interface Lru<Value extends object> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  clear(): void
}

interface LruBytes<Value extends object> {
  /** Of all entries together; one that is larger by itself is not kept. */
  readonly bytesMax: number
  /** At least 1. */
  sizeOf(value: Value): number
}

/**
 * The cache is allocated with its first entry: room for 100,000 takes 15 ms, which a start should not wait for.
 * @param bytes to be set where entries differ in length
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
