import { copyString } from '#platform/text.ts'
import { staticIndexMax, staticNames, staticTable } from './tables.ts'

/** Longer values are not kept in a table: they seldom repeat. */
export const keptLengthMax = 128

/** What the encoder knows of a name: one object per name, for all connections. */
export interface FieldName {
  /** In lower case. */
  readonly name: string
  /** Its lowest index in the static table; 0 = it is not in it. */
  readonly index: number
  /** Indexes in the static table by value; undefined = none has a value. */
  readonly indexes: ReadonlyMap<string, number> | undefined
  /** Whether intermediaries must not put it into a table (RFC 7541 7.1.3). */
  readonly isSecret: boolean
  /** Whether its values repeat often enough to keep the last one. */
  readonly isKept: boolean
}

const secretNames = new Set([
  ...['authorization', 'cookie', 'proxy-authorization', 'secretkey', 'set-cookie', 'x-api-key'],
])
/** Names in the static table whose values rarely repeat. */
const uniqueNames = new Set([
  ...[':path', 'content-disposition', 'content-location', 'content-range', 'etag', 'if-none-match'],
  ...['last-modified', 'location', 'referer'],
])
const repeatedNames = new Set([
  ...['access-control-allow-credentials', 'access-control-expose-headers', 'content-security-policy'],
  ...['grpc-accept-encoding', 'grpc-encoding', 'grpc-status', 'te', 'x-content-type-options'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-frame-options', 'x-powered-by'],
])

/** How many names are kept, as upstreams choose them; each has at most `keptLengthMax` characters. */
const namesMax = 1_024
const known = new Map<string, FieldName>()

/** @param text in any case */
export function fieldNameOf(text: string): FieldName {
  return known.get(text) ?? readName(text)
}

function readName(text: string): FieldName {
  const name = copyString(text).toLowerCase()
  const index = staticNames.get(name) ?? 0
  const isSecret = secretNames.has(name)
  const isKnown = known.size < namesMax && name.length <= keptLengthMax
  const isRepeated = index === 0 ? repeatedNames.has(name) : !uniqueNames.has(name)
  // A name without a permanent object would add an entry to the encoders with each message.
  const isKept = isKnown && !isSecret && isRepeated
  const read = { name, index, indexes: indexesOf(name), isSecret, isKept }
  if (isKnown) known.set(copyString(text), read)
  return read
}

function indexesOf(name: string): ReadonlyMap<string, number> | undefined {
  const indexes = new Map<string, number>()
  for (let index = staticIndexMax; index > 0; index--) {
    const value = staticTable[2 * index - 1] ?? ''
    if (staticTable[2 * index - 2] === name && value !== '') indexes.set(value, index)
  }
  return indexes.size > 0 ? indexes : undefined
}
