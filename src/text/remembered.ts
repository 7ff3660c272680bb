import { copyOf } from '../wire/copy.ts'

export interface RememberedBounds {
  readonly textsMax: number
  /** In characters: the value of a longer text is worked out each time, and not kept. */
  readonly lengthMax: number
}

/**
 * Caches a value for each text. All are dropped when there are too many: made-up texts must not fill the memory, and
 * the usual ones are back after a few requests. `undefined` is not cached.
 */
export function remembered<Value>(
  { textsMax, lengthMax }: RememberedBounds,
  workOut: (text: string) => Value,
): (text: string) => Value {
  const known = new Map<string, Value>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const value = workOut(text)
    if (value === undefined || text.length > lengthMax) return value
    if (known.size >= textsMax) known.clear()
    known.set(copyOf(text), value)
    return value
  }
}
