import type { NameTable } from '#http/message/name-table.ts'
import { bindsConnection } from '#http/outgoing/upstream-connection.ts'
import { lengthsOf, type RequestHead } from '#http/request-head.ts'
import { ParsedHead } from '#http/server/marked-head.ts'
import type { Carriers } from '#identity/carriers.ts'
import {
  ambiguousCredentials,
  type Credentials,
  noCredentials,
  withAuthorization,
  withSecretKey,
} from '#identity/credentials.ts'
import type { ClientClaims } from './client.ts'
import { secondTargetFields } from './second-target-fields.ts'

/** The header fields that decisions depend on, read in one pass over the raw headers. */
export interface RequestFields {
  /** undefined where there is none. */
  readonly host: string | undefined
  readonly credentials: Credentials
  readonly hasAuthorization: boolean
  readonly uncommon: UncommonFields
}

/** Fields that few requests have. */
export interface UncommonFields extends ClientClaims {
  readonly isHostRepeated: boolean
  /** Names in Connection other than the usual ones, in lower case; undefined where there are none. */
  readonly connectionOptions: ReadonlySet<string> | undefined
  readonly requestId: string | undefined
  /**
   * The values of the fields that name a second target, by their names in lower case; undefined where there are none.
   */
  readonly secondTargets: ReadonlyMap<string, string> | undefined
  /** Whether an Authorization is of a scheme that authenticates the connection instead (see bindsConnection). */
  readonly bindsConnection: boolean
  /** Whether there is a Service-Worker field: browsers send it with the script of a service worker. */
  readonly isWorkerScript: boolean
  /**
   * What a proxy says of the certificate of its client, by the names of certificateFields in lower case; undefined
   * where there is nothing.
   */
  readonly certificates: ReadonlyMap<string, readonly string[]> | undefined
  /** The values of DPoP (RFC 9449); undefined where there are none. */
  readonly proofs: readonly string[] | undefined
}

class ReadUncommonFields implements UncommonFields {
  isHostRepeated = false
  isWorkerScript = false
  bindsConnection = false
  connectionOptions: Set<string> | undefined = undefined
  requestId: string | undefined = undefined
  secondTargets: Map<string, string> | undefined = undefined
  forwardedFor: string | undefined = undefined
  forwardedProto: string | undefined = undefined
  forwardedHost: string | undefined = undefined
  proofs: string[] | undefined = undefined
  certificates: Map<string, string[]> | undefined = undefined
}

const noneFound = new ReadUncommonFields()
/** Shared by all requests without uncommon fields. */
export const noUncommonFields: UncommonFields = noneFound

class ReadFields implements RequestFields {
  host: string | undefined = undefined
  credentials = noCredentials
  uncommon: ReadUncommonFields = noneFound
  hasAuthorization = false
}

/** The fields of a request that has none. */
export const noFields: RequestFields = new ReadFields()

/** Reads the fields of requests under one config. */
export interface FieldReader {
  /** Where a secret key may come. */
  readonly carriers: Carriers
  read(head: Pick<RequestHead, 'rawHeaders'>): RequestFields
}

/** @param names marks all fields that are read here: in a head that was parsed with it, only marked lines are read */
export function createFieldReader(carriers: Carriers, names?: NameTable): FieldReader {
  const carrierNames = carriers.headers.map((name) => name.toLowerCase())
  const lengths = lengthsOf([...fieldNames, ...carrierNames])

  function readFields(rawHeaders: readonly string[]): ReadFields {
    const found = new ReadFields()
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] ?? ''
      if (lengths[name.length] === 1) readField(found, name.toLowerCase(), rawHeaders[index + 1] ?? '')
    }
    return found
  }

  function readMarked({ text, marked }: ParsedHead): ReadFields {
    const { at, end } = marked
    const found = new ReadFields()
    for (let index = 0; index < end; index += 5) {
      const start = at[index + 1] ?? 0
      const name = text.slice(start, text.indexOf(':', start))
      if (lengths[name.length] === 1)
        readField(found, name.toLowerCase(), text.slice(at[index + 2], at[index + 3]))
    }
    return found
  }

  function readField(found: ReadFields, name: string, value: string): void {
    // The cast is sound: other names reach the default. It makes the compiler compare the cases with the table.
    switch (name as FixedFieldName) {
      case 'host':
        if (found.host !== undefined) uncommonOf(found).isHostRepeated = true
        found.host = value
        break
      case 'authorization':
        found.credentials = found.hasAuthorization
          ? ambiguousCredentials
          : withAuthorization(found.credentials, value, carriers)
        found.hasAuthorization = true
        if (bindsConnection(value)) uncommonOf(found).bindsConnection = true
        break
      case 'connection':
        if (!ignoredOptions.has(value)) addConnectionOptions(uncommonOf(found), value)
        break
      case 'x-request-id':
        uncommonOf(found).requestId ??= value
        break
      case 'x-forwarded-for':
        uncommonOf(found).forwardedFor = joined(found.uncommon.forwardedFor, ',', value)
        break
      case 'x-forwarded-proto':
        uncommonOf(found).forwardedProto ??= value
        break
      case 'x-forwarded-host':
        uncommonOf(found).forwardedHost ??= value
        break
      case 'dpop':
        addProof(uncommonOf(found), value)
        break
      case 'client-cert':
      case 'x-forwarded-client-cert':
        addCertificate(uncommonOf(found), name, value)
        break
      case 'service-worker':
        uncommonOf(found).isWorkerScript = true
        break
      default:
        if (secondTargetFields.has(name)) addSecondTarget(uncommonOf(found), name, value)
        else readSecretKey(found, name, value)
    }
  }

  function readSecretKey(found: ReadFields, name: string, value: string): void {
    for (let index = 0; index < carrierNames.length; index++) {
      if (carrierNames[index] === name)
        found.credentials = withSecretKey(found.credentials, value, carriers.headers[index] ?? name)
    }
  }

  return {
    carriers,
    read: (head) =>
      head instanceof ParsedHead && head.names === names ? readMarked(head) : readFields(head.rawHeaders),
  }
}

/** Copy on write: heads without such fields share one object. */
function uncommonOf(found: ReadFields): ReadUncommonFields {
  if (found.uncommon === noneFound) found.uncommon = new ReadUncommonFields()
  return found.uncommon
}

/** Two fields of one name are joined to a value that names no target. */
function addSecondTarget(found: ReadUncommonFields, name: string, value: string): void {
  found.secondTargets ??= new Map()
  found.secondTargets.set(name, joined(found.secondTargets.get(name), ', ', value))
}

function addProof(found: ReadUncommonFields, proof: string): void {
  found.proofs ??= []
  found.proofs.push(proof)
}

function addCertificate(found: ReadUncommonFields, name: string, value: string): void {
  found.certificates ??= new Map()
  const values = found.certificates.get(name)
  if (values === undefined) found.certificates.set(name, [value])
  else values.push(value)
}

function joined(before: string | undefined, separator: string, value: string): string {
  return before === undefined ? value : before + separator + value
}

/** The fields that are read whatever the config says, beside those that name a second target. */
const fixedFieldNames = [
  'host',
  'authorization',
  'connection',
  'x-request-id',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'service-worker',
  'dpop',
  'client-cert',
  'x-forwarded-client-cert',
] as const

type FixedFieldName = (typeof fixedFieldNames)[number]

const fieldNames: readonly string[] = [...fixedFieldNames, ...secondTargetFields.keys()]

const ignoredOptions = new Set(['', 'keep-alive', 'close', 'upgrade'])

function addConnectionOptions(found: ReadUncommonFields, value: string): void {
  const options = value
    .toLowerCase()
    .split(',')
    .map((part) => part.trim())
    .filter((name) => !ignoredOptions.has(name))
  if (options.length === 0) return
  found.connectionOptions ??= new Set()
  for (const option of options) found.connectionOptions.add(option)
}
