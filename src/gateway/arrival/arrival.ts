import { randomFillSync } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ClientExchange } from '#http/client-exchange.ts'
import { type RequestHead, withoutTexts } from '#http/request-head.ts'
import type { Carriers } from '#identity/access.ts'
import type { Credentials } from '#identity/credentials.ts'
import type { AddressSet } from '#platform/addresses.ts'
import { copyString } from '#platform/text.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import { userAgentLengthMax, type Visitor } from '#store/sessions.ts'
import { type Client, readClient } from './client.ts'
import { createOutcome, forgetTexts, type Outcome } from './outcome.ts'
import { type FieldReader, noFields, type RequestFields, type UncommonFields } from './request-fields.ts'

/**
 * A request as it arrived: immutable, apart from its outcome.
 * @typeParam Connection what is needed of it
 */
export interface Arrival<Connection = ClientExchange> {
  readonly connection: Connection
  readonly head: RequestHead
  readonly requestId: string
  readonly arrivedAt: MonotonicMs
  readonly client: Client
  readonly fields: RequestFields
  /** Where a secret key was looked for. */
  readonly carriers: Carriers
  /** Its mutable result. */
  readonly outcome: Outcome
}

/** A request at the gate: decisions need no more of its connection than the certificate of its client. */
export type GatedArrival = Arrival<Pick<ClientExchange, 'clientCertificate'>>

/**
 * The credentials that decide about it: those of its fields, without Authorization if that belongs to the backend, or
 * else the access cookie, if the route takes it.
 */
export function credentialsOf({ outcome, fields }: GatedArrival): Credentials {
  return outcome.credentials ?? fields.credentials
}

const arrivalKey = Symbol('arrival')

/** The parts of a config that requests are read with. */
export interface ArrivalReader {
  readonly trusted: AddressSet
  readonly fieldReader: FieldReader
}

/** Reads a request that has arrived. */
export function createArrival<Connection extends Pick<ClientExchange, 'peerAddress' | 'protocol'>>(
  connection: Connection,
  head: RequestHead,
  { trusted, fieldReader }: ArrivalReader,
): Arrival<Connection> {
  const fields = fieldReader.read(head)
  const { host = '', uncommon } = fields
  const { forwardedFor, forwardedProto, forwardedHost } = uncommon
  const { peerAddress: peer, protocol } = connection
  const client = readClient({ peer, protocol, host, forwardedFor, forwardedProto, forwardedHost }, trusted)
  return {
    connection,
    head,
    requestId: trustedRequestId(uncommon, client.isTrusted) ?? createRequestId(),
    arrivedAt: monotonicClock(),
    client,
    fields,
    carriers: fieldReader.carriers,
    outcome: createOutcome(),
  }
}

/**
 * What logging needs of an arrival at the end of its request. Texts are copied: each is a slice of the head, and would
 * keep all of it in memory, with its credentials; a request ID would keep those of 255 others.
 */
export function withoutHead(arrival: Arrival): Arrival {
  const { connection, head, client, requestId, arrivedAt, carriers, outcome } = arrival
  forgetTexts(outcome)
  return {
    connection,
    arrivedAt,
    carriers,
    outcome,
    requestId: copyString(requestId),
    head: withoutTexts(head),
    client: {
      address: copyString(client.address),
      isTrusted: client.isTrusted,
      protocol: client.protocol,
      forwardedFor: '',
      host: copyString(client.host),
    },
    fields: noFields,
  }
}

/** What the gateway's own endpoints need of a request's connection. */
export type EndpointConnection = Pick<
  ClientExchange,
  'peerAddress' | 'protocol' | 'clientCertificate' | 'bodyState' | 'canPersist' | 'abort'
>

/** Attaches its arrival to a request for the gateway's own endpoints. */
export function attachArrival(request: IncomingMessage, arrival: Arrival<EndpointConnection>): void {
  Object.assign(request, { [arrivalKey]: arrival })
}

/** The arrival that attachArrival attached. */
export function arrivalOf(request: IncomingMessage): Arrival<EndpointConnection> {
  const arrival = attachedArrivalOf(request)
  if (!arrival) throw new Error('no arrival is attached to this request')
  return arrival
}

/** The arrival that attachArrival attached; undefined where none was. */
export function attachedArrivalOf(request: IncomingMessage): Arrival<EndpointConnection> | undefined {
  // The cast is sound: only attachArrival writes this key, before any other code sees the request.
  return (request as { [arrivalKey]?: Arrival<EndpointConnection> })[arrivalKey]
}

/** The origin of a request, as stored with sessions and in the audit log. */
export function visitorOf(request: IncomingMessage): Visitor {
  const userAgent = request.headers['user-agent'] ?? ''
  return {
    address: arrivalOf(request).client.address,
    userAgent: userAgent.slice(0, userAgentLengthMax).toWellFormed(),
  }
}

const requestIdPattern = /^[!-~]{1,128}$/

/** The request ID of the sender, if it is trusted. */
export function trustedRequestId({ requestId }: UncommonFields, isTrusted: boolean): string | undefined {
  return isTrusted && requestId !== undefined && requestIdPattern.test(requestId) ? requestId : undefined
}

const idBytes = 16
/** `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` (RFC 9562 4). */
const idLength = 36
/** IDs are made in batches: one call for random bytes, many or few, takes as long as parsing a head. */
const batchSize = 256
const random = Buffer.alloc(idBytes * batchSize)
const written = Buffer.alloc(idLength * batchSize)
const digits = Buffer.from('0123456789abcdef', 'latin1')
const dash = '-'.charCodeAt(0)
let batch = ''
let position = 0

/** A random UUID (RFC 9562 5.4). */
export function createRequestId(): string {
  if (position === batch.length) refill()
  position += idLength
  return batch.slice(position - idLength, position)
}

/** Writes all IDs of a batch as one text, and slices it: half the work of building each. */
function refill(): void {
  randomFillSync(random)
  let end = 0
  for (let index = 0; index < random.length; index++) {
    const byteIndex = index % idBytes
    if (byteIndex === 4 || byteIndex === 6 || byteIndex === 8 || byteIndex === 10) written[end++] = dash
    const byte = withVersion(random[index] ?? 0, byteIndex)
    written[end++] = digits[byte >> 4] ?? 0
    written[end++] = digits[byte & 0x0f] ?? 0
  }
  batch = written.toString('latin1')
  position = 0
}

/** Sets the version 4 and the variant of RFC 9562 in their bytes. */
function withVersion(byte: number, byteIndex: number): number {
  if (byteIndex === 6) return (byte & 0x0f) | 0x40
  return byteIndex === 8 ? (byte & 0x3f) | 0x80 : byte
}
