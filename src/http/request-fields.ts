import type { Carriers } from '../auth/carriers.ts'
import {
  type Credentials,
  noCredentials,
  withAuthorization,
  withRepeatedAuthorization,
  withSecretKey,
} from '../auth/credentials.ts'
import type { RequestHead } from '../exchange/request-head.ts'
import { lengthsOf } from '../http1/raw-headers.ts'
import type { RepeatedHead } from '../proxy/repeated-head.ts'

/** The header fields that decisions depend on, read in one pass over the raw headers. */
export interface RequestFields {
  /** undefined where there is none. */
  readonly host: string | undefined
  readonly isHostRepeated: boolean
  readonly credentials: Credentials
  readonly hasAuthorization: boolean
  /** Names in Connection other than the usual ones, in lower case; undefined where there are none. */
  readonly connectionOptions: ReadonlySet<string> | undefined
  readonly requestId: string | undefined
  /** All Destination, joined; two make no URL. */
  readonly davDestination: string | undefined
  /** All X-Forwarded-For, joined. */
  readonly forwardedFor: string | undefined
  /** The first X-Forwarded-Proto and -Host. */
  readonly forwardedProto: string | undefined
  readonly forwardedHost: string | undefined
  /** Whether a browser fetches the script of a service worker: `Service-Worker: script`. */
  readonly isWorkerScript: boolean
  /** Set where they are known to repeat. */
  readonly repeated: RepeatedHead | undefined
}

/**
 * Those of one head, and what is kept with them where it repeats: in one object, as few lines of the core's cache hold
 * what belongs to one client of many. A class, as V8 puts what is added to a copy into an array of its own.
 */
class ReadFields implements RequestFields, RepeatedHead {
  /** undefined = none has read them. */
  readonly reader: FieldReader | undefined
  lines: RepeatedHead['lines'] = undefined
  credentials = noCredentials
  host: string | undefined = undefined
  isHostRepeated = false
  isWorkerScript = false
  davDestination: string | undefined = undefined
  connectionOptions: ReadonlySet<string> | undefined = undefined
  forwardedFor: string | undefined = undefined
  forwardedProto: string | undefined = undefined
  forwardedHost: string | undefined = undefined
  requestId: string | undefined = undefined
  hasAuthorization = false
  /** Itself. */
  repeated: ReadFields | undefined = undefined

  constructor(reader: FieldReader | undefined) {
    this.reader = reader
  }
}

/** Those of a request without any. */
export const noFields: RequestFields = new ReadFields(undefined)

/** Reads the fields of requests under one config. */
export interface FieldReader {
  /** Where a secret key may come. */
  readonly carriers: Carriers
  /** The fields of repeated heads are read once for all of them. */
  read(head: Pick<RequestHead, 'rawHeaders' | 'repeated'>): RequestFields
}

export function createFieldReader(carriers: Carriers): FieldReader {
  const carrierNames = carriers.headers.map((name) => name.toLowerCase())
  const lengths = lengthsOf([...fieldNames, ...carrierNames])

  function readFields(rawHeaders: readonly string[]): ReadFields {
    const found = new ReadFields(reader)
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] ?? ''
      if (lengths[name.length] === 1) readField(found, name.toLowerCase(), rawHeaders[index + 1] ?? '')
    }
    return found
  }

  function readField(found: ReadFields, name: string, value: string): void {
    switch (name) {
      case 'host':
        if (found.host !== undefined) found.isHostRepeated = true
        found.host = value
        break
      case 'authorization':
        found.credentials = found.hasAuthorization
          ? withRepeatedAuthorization()
          : withAuthorization(found.credentials, value, carriers)
        found.hasAuthorization = true
        break
      case 'connection':
        found.connectionOptions = addConnectionOptions(found.connectionOptions, value)
        break
      case 'x-request-id':
        found.requestId ??= value
        break
      case 'destination':
        found.davDestination =
          found.davDestination === undefined ? value : `${found.davDestination}, ${value}`
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
      case 'service-worker':
        found.isWorkerScript = true
        break
      default:
        readSecretKey(found, name, value)
    }
  }

  function readSecretKey(found: ReadFields, name: string, value: string): void {
    for (let index = 0; index < carrierNames.length; index++) {
      if (carrierNames[index] === name)
        found.credentials = withSecretKey(found.credentials, value, carriers.headers[index] ?? name)
    }
  }

  const reader: FieldReader = {
    carriers,
    read: ({ rawHeaders, repeated }) => {
      if (repeated === undefined) return readFields(rawHeaders)
      // The cast is sound: nothing else writes it.
      const kept = repeated.derived as ReadFields | undefined
      if (kept?.reader === reader) return kept
      const fields = readFields(rawHeaders)
      fields.repeated = fields
      repeated.derived = fields
      return fields
    },
  }
  return reader
}

const fieldNames = [
  'host',
  'authorization',
  'connection',
  'x-request-id',
  'destination',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'service-worker',
]

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
