import { copyOf } from '../wire/copy.ts'

/**
 * Caches a value for each text. All are dropped when there are too many: made-up texts must not fill the memory, and
 * the usual ones are back after a few requests. `undefined` is not cached.
 */
export function remembered<Value>(
  textsMax: number,
  workOut: (text: string) => Value,
): (text: string) => Value {
  const known = new Map<string, Value>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const value = workOut(text)
    if (value === undefined) return value
    if (known.size >= textsMax) known.clear()
    known.set(copyOf(text), value)
    return value
  }
}
