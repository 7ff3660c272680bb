/** The static table (RFC 7541 Appendix A): name, value, name, value; the first entry has index 1. */
export const staticTable: readonly string[] = [
  ...[':authority', '', ':method', 'GET', ':method', 'POST', ':path', '/', ':path', '/index.html'],
  ...[':scheme', 'http', ':scheme', 'https', ':status', '200', ':status', '204', ':status', '206'],
  ...[':status', '304', ':status', '400', ':status', '404', ':status', '500', 'accept-charset', ''],
  ...['accept-encoding', 'gzip, deflate', 'accept-language', '', 'accept-ranges', '', 'accept', ''],
  ...['access-control-allow-origin', '', 'age', '', 'allow', '', 'authorization', '', 'cache-control', ''],
  ...['content-disposition', '', 'content-encoding', '', 'content-language', '', 'content-length', ''],
  ...['content-location', '', 'content-range', '', 'content-type', '', 'cookie', '', 'date', '', 'etag', ''],
  ...['expect', '', 'expires', '', 'from', '', 'host', '', 'if-match', '', 'if-modified-since', ''],
  ...['if-none-match', '', 'if-range', '', 'if-unmodified-since', '', 'last-modified', '', 'link', ''],
  ...['location', '', 'max-forwards', '', 'proxy-authenticate', '', 'proxy-authorization', '', 'range', ''],
  ...['referer', '', 'refresh', '', 'retry-after', '', 'server', '', 'set-cookie', ''],
  ...['strict-transport-security', '', 'transfer-encoding', '', 'user-agent', '', 'vary', '', 'via', ''],
  ...['www-authenticate', ''],
]

/** The highest index of the static table; the dynamic table begins after it. */
export const staticIndexMax = staticTable.length / 2

/** The lowest index of each name. */
export const staticNames: ReadonlyMap<string, number> = new Map(
  Array.from({ length: staticIndexMax }, (_, index): [string, number] => [
    staticTable[2 * index] ?? '',
    index + 1,
  ]).toReversed(),
)

/** The size of an entry in addition to its texts. */
const entryOverhead = 32
/** The size of the table until the peers agree on another (RFC 9113 6.5.2); we never use more. */
export const tableSizeDefault = 4_096
/** Maximum number of entries, a power of two: the slots are used in turn. */
const places = tableSizeDefault / entryOverhead

/** The size of an entry (RFC 7541 4.1), and of a field in a list (RFC 9113 6.5.2). */
export function entrySize(name: string, value: string): number {
  return name.length + value.length + entryOverhead
}

/** The dynamic table of one direction of a connection (RFC 7541 2.3.2). */
export class DynamicTable {
  readonly #names: string[] = []
  readonly #values: string[] = []
  readonly #areChecked: boolean[] = []
  /** How many entries have ever been added, which is the number of the latest. */
  added = 0
  #evicted = 0
  #size = 0
  sizeMax = tableSizeDefault

  get length(): number {
    return this.added - this.#evicted
  }

  /** @param size at most `tableSizeDefault` */
  resize(size: number): void {
    this.sizeMax = size
    this.#evictTo(size)
  }

  /** @param isChecked what `isCheckedAt` is to return */
  add(name: string, value: string, isChecked = false): void {
    const size = entrySize(name, value)
    this.#evictTo(this.sizeMax - size)
    // An entry that is larger than the table empties it (RFC 7541 4.4).
    if (size > this.sizeMax) return
    const place = this.added++ % places
    this.#names[place] = name
    this.#values[place] = value
    this.#areChecked[place] = isChecked
    this.#size += size
  }

  /** @param age 0 = the latest entry */
  nameAt(age: number): string {
    return this.#names[(this.added - 1 - age) % places] ?? ''
  }

  valueAt(age: number): string {
    return this.#values[(this.added - 1 - age) % places] ?? ''
  }

  isCheckedAt(age: number): boolean {
    return this.#areChecked[(this.added - 1 - age) % places] === true
  }

  /** How many entries are newer than one; undefined = it has been evicted. @param number see `added` */
  ageOf(number: number): number | undefined {
    return number > this.#evicted ? this.added - number : undefined
  }

  #evictTo(size: number): void {
    while (this.#size > size && this.length > 0) {
      const place = this.#evicted++ % places
      this.#size -= entrySize(this.#names[place] ?? '', this.#values[place] ?? '')
      this.#names[place] = ''
      this.#values[place] = ''
    }
  }
}

/** A field block cannot be decoded, so that the two sides no longer have the same table (RFC 7541 2.2, 3.1). */
export class CompressionError extends Error {
  override readonly name = 'CompressionError'
}
