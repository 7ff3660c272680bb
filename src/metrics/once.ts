/** Asks for each key once. The keys must be of a closed set: none is forgotten. */
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
