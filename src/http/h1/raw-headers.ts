/**
 * The lengths of names: most names in a head have another length, and cost only this look-up.
 * @returns 1 at the index of each length; lengths from 256 on are not in it, and read as undefined
 */
export function lengthsOf(names: Iterable<string>): Uint8Array {
  const lengths = new Uint8Array(256)
  for (const { length } of names) lengths[length] = 1
  return lengths
}

/** Whether a name, as received, is this one. @param wanted in lower case */
export function isNamed(name: string | undefined, wanted: string): boolean {
  return name?.length === wanted.length && name.toLowerCase() === wanted
}

/** The fields of a head as pairs, for code that is not hot. @param rawHeaders name, value, name, value */
export function* fieldsIn(rawHeaders: readonly string[]): Generator<[name: string, value: string]> {
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    yield [rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']
}

/** The fields but some. @param isDropped gets a name in lower case */
export function withoutFields(
  rawHeaders: readonly string[],
  isDropped: (name: string) => boolean,
): readonly string[] {
  return rawHeaders.filter((_, index) => !isDropped((rawHeaders[index - (index % 2)] ?? '').toLowerCase()))
}

/**
 * The value of a field that was sent once; undefined if it is missing, or was sent more often and so is ambiguous.
 * @param rawHeaders name, value, name, value, as received
 * @param name in lower case
 */
export function onlyValueOf(rawHeaders: readonly string[], name: string): string | undefined {
  let found: string | undefined
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (!isNamed(rawHeaders[index], name)) continue
    if (found !== undefined) return undefined
    found = rawHeaders[index + 1] ?? ''
  }
  return found
}

/**
 * The values of all fields of a name, in their order.
 * @param rawHeaders name, value, name, value, as received
 * @param name in lower case
 */
export function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  let values: string[] | undefined
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (!isNamed(rawHeaders[index], name)) continue
    values ??= []
    values.push(rawHeaders[index + 1] ?? '')
  }
  return values ?? none
}

const none: readonly string[] = []
