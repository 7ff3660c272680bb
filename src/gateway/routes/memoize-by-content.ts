/** Computes a value once for arguments that are equal as JSON: they share one object. None is dropped. */
export function memoizeByContent<Args extends readonly unknown[], Value>(
  compute: (...args: Args) => Value,
): (...args: Args) => Value {
  const known = new Map<string, Value>()
  return (...args) => {
    const content = JSON.stringify(args)
    // The cast is sound: it is there.
    if (known.has(content)) return known.get(content) as Value
    const computed = compute(...args)
    known.set(content, computed)
    return computed
  }
}
