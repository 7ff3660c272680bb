import { type Credentials, noCredentials, withAuthorization, withSecretKey } from '../auth/credentials.ts'
import { lengthsOf } from '../http1/raw-headers.ts'

/** The header fields that decisions depend on, read in one pass over the raw headers. */
export interface RequestFields {
  /** undefined where there is none. */
  readonly host: string | undefined
  readonly isHostRepeated: boolean
  readonly credentials: Credentials
  /** Names in Connection other than the usual ones, in lower case; undefined where there are none. */
  readonly connectionOptions: ReadonlySet<string> | undefined
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
  const found: Mutable<RequestFields> = {
    host: undefined,
    isHostRepeated: false,
    credentials: noCredentials,
    connectionOptions: undefined,
    requestId: undefined,
    forwardedFor: undefined,
    forwardedProto: undefined,
    forwardedHost: undefined,
  }
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (lengths[name.length] === 1) readField(found, name.toLowerCase(), rawHeaders[index + 1] ?? '')
  }
  return found
}

function readField(found: Mutable<RequestFields>, name: string, value: string): void {
  switch (name) {
    case 'host':
      if (found.host !== undefined) found.isHostRepeated = true
      found.host = value
      break
    case 'secretkey':
      found.credentials = withSecretKey(found.credentials, value)
      break
    case 'authorization':
      found.credentials = withAuthorization(found.credentials, value)
      break
    case 'connection':
      found.connectionOptions = addConnectionOptions(found.connectionOptions, value)
      break
    case 'x-request-id':
      found.requestId ??= value
      break
    case 'x-forwarded-for':
      found.forwardedFor = found.forwardedFor === undefined ? value : `${found.forwardedFor},${value}`
      break
    case 'x-forwarded-proto':
      found.forwardedProto ??= value
      break
    case 'x-forwarded-host':
      found.forwardedHost ??= value
      break
  }
}

const lengths = lengthsOf([
  'host',
  'secretkey',
  'authorization',
  'connection',
  'x-request-id',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
])

const ignoredOptions = new Set(['', 'keep-alive', 'close', 'upgrade'])

function addConnectionOptions(
  known: ReadonlySet<string> | undefined,
  value: string,
): ReadonlySet<string> | undefined {
  if (ignoredOptions.has(value)) return known
  const options = value
    .toLowerCase()
    .split(',')
    .map((part) => part.trim())
    .filter((name) => !ignoredOptions.has(name))
  return options.length === 0 ? known : new Set([...(known ?? []), ...options])
}
