import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { Principal } from '../auth/principal.ts'
import { type Code, GatehouseError } from '../errors.ts'
import { type Client, plainAddress, readClient, type TrustedProxies } from '../proxy/client.ts'
import type { Access, SchemeName } from '../routes/route.ts'
import { parseTarget, type Target } from '../routes/target.ts'
import { parseHost } from './host.ts'
import { type RequestFields, readRequestFields } from './request-fields.ts'

/** A request as it arrived, before anything is decided. */
export interface Arrival {
  readonly requestId: string
  /** On the clock of performance.now(). */
  readonly arrivedAt: number
  readonly client: Client
  readonly fields: RequestFields
  /** Set once it is beyond doubt. */
  destination: Destination | undefined
  readonly outcome: Outcome
}

/** What became of a request, for its log line and the metrics; filled in on the way. */
export interface Outcome {
  /** Name of the route, `_gateway` or `_unmatched`. */
  route: string
  access: Access | undefined
  scheme: SchemeName | undefined
  principal: Principal | undefined
  upstream: string | undefined
  code: Code | undefined
  /** Why it failed, in words for the operator. */
  reason: string | undefined
  /** When it left for the upstream, and when the whole answer had come. */
  sentAt: number | undefined
  answeredAt: number | undefined
}

/** Where a request wants to go, once that is beyond doubt. */
export interface Destination {
  readonly target: Target
  /** In lower case, without port. */
  readonly hostName: string
}

/** The route of what finds none. */
export const unmatched = '_unmatched'
const key = Symbol('arrival')
const requestIdPattern = /^[!-~]{1,128}$/

/** Reads what arrived and remembers it with the request. */
export function createArrival(request: IncomingMessage, trusted: TrustedProxies): Arrival {
  const { rawHeaders, socket } = request
  const fields = readRequestFields(rawHeaders)
  const client = readClient(
    {
      ...fields,
      peer: plainAddress(socket.remoteAddress ?? ''),
      protocol: socket instanceof TLSSocket ? 'https' : 'http',
      host: fields.host ?? '',
    },
    trusted,
  )
  const arrival: Arrival = {
    requestId: requestIdOf(fields, client.isTrusted),
    arrivedAt: performance.now(),
    client,
    fields,
    destination: undefined,
    outcome: {
      route: unmatched,
      access: undefined,
      scheme: undefined,
      principal: undefined,
      upstream: undefined,
      code: undefined,
      reason: undefined,
      sentAt: undefined,
      answeredAt: undefined,
    },
  }
  Object.assign(request, { [key]: arrival })
  return arrival
}

/** What createArrival remembered. */
export function arrivalOf(request: IncomingMessage): Arrival {
  // The cast is sound: createArrival alone writes this key, and is the first to see any request.
  const arrival = (request as { [key]?: Arrival })[key]
  if (!arrival) throw new Error('a request that never arrived')
  return arrival
}

/**
 * Reads where the request wants to go, and remembers it with the rest.
 * @throws GatehouseError `path-ambiguous`, `request-invalid`
 */
export function readDestination(request: IncomingMessage): Destination {
  const arrival = arrivalOf(request)
  const { host, isHostRepeated } = arrival.fields
  const target = parseTarget(request.url ?? '')
  if (!target) throw new GatehouseError('path-ambiguous')
  const hostName = host === undefined || isHostRepeated ? undefined : parseHost(host)
  if (hostName === undefined) {
    throw new GatehouseError('request-invalid', {
      detail: 'There must be exactly one well-formed Host header.',
    })
  }
  const destination = { target, hostName }
  arrival.destination = destination
  return destination
}

/** What readDestination remembered. */
export function destinationOf(request: IncomingMessage): Destination {
  const { destination } = arrivalOf(request)
  if (!destination) throw new Error('a request without a destination')
  return destination
}

function requestIdOf({ requestId }: RequestFields, isTrusted: boolean): string {
  return isTrusted && requestId !== undefined && requestIdPattern.test(requestId) ? requestId : randomUUID()
}
