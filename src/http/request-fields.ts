/** The header fields that decide about a request, read in one pass over what arrived. */
export interface RequestFields {
  /** What the fields take, plainly written. */
  readonly headerBytes: number
  /** undefined where there is none. */
  readonly host: string | undefined
  readonly isHostRepeated: boolean
  readonly secretKey: string | undefined
  readonly authorization: string | undefined
  /** Whether SecretKey or Authorization came more than once: Node would show only one of them. */
  readonly isCredentialRepeated: boolean
  readonly contentLength: string | undefined
  readonly transferEncoding: string | undefined
  /** Names in Connection beyond the usual, in lower case; undefined where there are none. */
  readonly connectionNames: ReadonlySet<string> | undefined
  readonly requestId: string | undefined
  /** All X-Forwarded-For, joined. */
  readonly forwardedFor: string | undefined
  /** The first X-Forwarded-Proto and -Host. */
  readonly forwardedProto: string | undefined
  readonly forwardedHost: string | undefined
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

/** @param rawHeaders name, value, name, value, as they arrived */
export function readRequestFields(rawHeaders: readonly string[]): RequestFields {
  const fields: Mutable<RequestFields> = {
    headerBytes: 0,
    host: undefined,
    isHostRepeated: false,
    secretKey: undefined,
    authorization: undefined,
    isCredentialRepeated: false,
    contentLength: undefined,
    transferEncoding: undefined,
    connectionNames: undefined,
    requestId: undefined,
    forwardedFor: undefined,
    forwardedProto: undefined,
    forwardedHost: undefined,
  }
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const value = rawHeaders[index + 1] ?? ''
    // With `:`, the end of the line and, before a value, a space.
    fields.headerBytes += name.length + value.length + (value === '' ? 3 : 4)
    // Most names are of another length than any of these, and cost no more than this.
    if (!lengths.has(name.length)) continue
    readField(fields, name.toLowerCase(), value)
  }
  return fields
}

function readField(fields: Mutable<RequestFields>, name: string, value: string): void {
  switch (name) {
    case 'host':
      if (fields.host !== undefined) fields.isHostRepeated = true
      fields.host = value
      break
    case 'secretkey':
      if (fields.secretKey !== undefined) fields.isCredentialRepeated = true
      fields.secretKey = value
      break
    case 'authorization':
      if (fields.authorization !== undefined) fields.isCredentialRepeated = true
      fields.authorization = value
      break
    case 'content-length':
      fields.contentLength = value
      break
    case 'transfer-encoding':
      fields.transferEncoding =
        fields.transferEncoding === undefined ? value : `${fields.transferEncoding},${value}`
      break
    case 'connection':
      fields.connectionNames = addNames(fields.connectionNames, value)
      break
    case 'x-request-id':
      fields.requestId ??= value
      break
    case 'x-forwarded-for':
      fields.forwardedFor = fields.forwardedFor === undefined ? value : `${fields.forwardedFor},${value}`
      break
    case 'x-forwarded-proto':
      fields.forwardedProto ??= value
      break
    case 'x-forwarded-host':
      fields.forwardedHost ??= value
      break
  }
}

const lengths = new Set(
  [
    ...['host', 'secretkey', 'authorization', 'content-length', 'transfer-encoding', 'connection'],
    ...['x-request-id', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'],
  ].map(({ length }) => length),
)

const usual = new Set(['', 'keep-alive', 'close', 'upgrade'])

function addNames(known: ReadonlySet<string> | undefined, value: string): ReadonlySet<string> | undefined {
  if (usual.has(value)) return known
  const names = value
    .toLowerCase()
    .split(',')
    .map((part) => part.trim())
    .filter((name) => !usual.has(name))
  return names.length === 0 ? known : new Set([...(known ?? []), ...names])
}
