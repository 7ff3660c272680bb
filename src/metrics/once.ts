/** Asks for each key once. The keys must be of a closed set: none is forgotten. */
export function once<Key, Value extends object>(ask: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    const value = known.get(key)
    if (value !== undefined) return value
    const asked = ask(key)
    known.set(key, asked)
    return asked
  }
}
