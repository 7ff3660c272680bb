import { copyString } from './text.ts'

/** Computes a value once for each key. The keys must be from a closed set, as all are kept. */
export function memoize<Key, Value extends object>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    const value = known.get(key)
    if (value !== undefined) return value
    const computed = compute(key)
    known.set(key, computed)
    return computed
  }
}

/** Remembers only the last value, which saves a look-up if most calls repeat the key of the one before. */
export function memoizeLast<Key, Value extends object>(compute: (key: Key) => Value): (key: Key) => Value {
  let lastKey: Key | undefined
  let lastValue: Value | undefined
  return (key) => {
    if (lastValue !== undefined && lastKey === key) return lastValue
    lastValue = compute(key)
    lastKey = key
    return lastValue
  }
}

/** Memoizes by object; values are dropped together with their objects. */
export function memoizeByObject<Key extends object, Value extends object>(
  compute: (key: Key) => Value,
): (key: Key) => Value {
  const known = new WeakMap<Key, Value>()
  return (key) => {
    const value = known.get(key)
    if (value !== undefined) return value
    const computed = compute(key)
    known.set(key, computed)
    return computed
  }
}

/** Computes a value once for arguments that are equal as JSON, which then share one object. All results are kept. */
export function memoizeByContent<Args extends readonly unknown[], Value>(
  compute: (...args: Args) => Value,
): (...args: Args) => Value {
  const known = new Map<string, Value>()
  return (...args) => {
    const content = JSON.stringify(args)
    // The cast is sound: the key is present.
    if (known.has(content)) return known.get(content) as Value
    const computed = compute(...args)
    known.set(content, computed)
    return computed
  }
}

interface MemoizeBounds {
  readonly entriesMax: number
  /** In characters: the value for a longer text is computed each time, and not cached. */
  readonly keyLengthMax: number
}

/**
 * Caches a value for each text. When there are too many, all are dropped: arbitrary texts from clients must not fill
 * the memory, and common ones are cached again after a few requests. `undefined` is not cached.
 */
export function memoizeBounded<Value>(
  { entriesMax, keyLengthMax }: MemoizeBounds,
  compute: (text: string) => Value,
): (text: string) => Value {
  const known = new Map<string, Value>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const value = compute(text)
    if (value === undefined || text.length > keyLengthMax) return value
    if (known.size >= entriesMax) known.clear()
    known.set(copyString(text), value)
    return value
  }
}
