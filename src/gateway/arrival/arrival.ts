import type { ClientExchange } from '#http/client-exchange.ts'
import { type RequestHead, withoutTexts } from '#http/request-head.ts'
import type { Carriers } from '#identity/carriers.ts'
import type { Credentials } from '#identity/credentials.ts'
import type { AddressSet } from '#platform/addresses.ts'
import { copyString } from '#platform/text.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import { type Client, readClient } from './client.ts'
import { createOutcome, forgetTexts, type Outcome } from './outcome.ts'
import { type FieldReader, noFields, type RequestFields } from './request-fields.ts'
import { createRequestId, trustedRequestId } from './request-id.ts'

/**
 * A request as it arrived: immutable, apart from its outcome.
 * @typeParam Exchange what is needed of it
 */
export interface Arrival<Exchange = ClientExchange> {
  readonly exchange: Exchange
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

/** A request at the gate: decisions need no more of its exchange than the certificate of its client. */
export type GatedArrival = Arrival<Pick<ClientExchange, 'clientCertificate'>>

/**
 * The credentials that decide about it: those of its fields, without Authorization if that belongs to the backend, or
 * else the access cookie, if the route takes it.
 */
export function credentialsOf({ outcome, fields }: GatedArrival): Credentials {
  return outcome.credentials ?? fields.credentials
}

/** The parts of a config that requests are read with. */
export interface ArrivalReader {
  readonly trusted: AddressSet
  readonly fieldReader: FieldReader
}

/** Reads a request that has arrived. */
export function createArrival<Exchange extends Pick<ClientExchange, 'peerAddress' | 'protocol'>>(
  exchange: Exchange,
  head: RequestHead,
  { trusted, fieldReader }: ArrivalReader,
): Arrival<Exchange> {
  const fields = fieldReader.read(head)
  const { host = '', uncommon } = fields
  const client = readClient(exchange, host, uncommon, trusted)
  return {
    exchange,
    head,
    requestId: trustedRequestId(uncommon, client.isTrusted) ?? createRequestId(),
    arrivedAt: monotonicClock(),
    client,
    fields,
    carriers: fieldReader.carriers,
    outcome: createOutcome(),
  }
}

export type HttpVersion = '1.0' | '1.1' | '2'

export function httpVersionOf({ exchange, head }: Pick<Arrival, 'exchange' | 'head'>): HttpVersion {
  if (exchange.isHttp2) return '2'
  return head.minorVersion === 0 ? '1.0' : '1.1'
}

/**
 * What logging needs of an arrival at the end of its request. Texts are copied: each is a slice of the head, and would
 * keep all of it in memory, with its credentials; a request ID would keep those of 255 others.
 */
export function withoutHead(arrival: Arrival): Arrival {
  const { exchange, head, client, requestId, arrivedAt, carriers, outcome } = arrival
  forgetTexts(outcome)
  return {
    exchange,
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
