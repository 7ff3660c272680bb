import type { IncomingMessage } from 'node:http'
import type { Decision } from '../auth/decision.ts'
import type { Principal } from '../auth/principal.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import type { ClientConnection } from '../http1/client-connection.ts'
import type { RequestHead } from '../http1/request-head.ts'
import { type Client, readClient, type TrustedProxies } from '../proxy/client.ts'
import type { CorsHeaders } from '../proxy/cors-headers.ts'
import { parseRequestTarget, type RequestTarget } from '../routes/request-target.ts'
import type { Access } from '../routes/route.ts'
import type { Trace } from '../tracing/tracer.ts'
import { parseHost } from './host.ts'
import { type RequestFields, readRequestFields } from './request-fields.ts'
import { createRequestId } from './request-id.ts'

/** A request as it arrived, before anything is decided. */
export interface Arrival {
  readonly connection: ClientConnection
  readonly head: RequestHead
  readonly requestId: string
  /** On the clock of performance.now(). */
  readonly arrivedAt: number
  readonly client: Client
  readonly fields: RequestFields
  /** Set once it is unambiguous. */
  destination: Destination | undefined
  /** What its answer says about CORS; undefined = that is left to the upstream. */
  corsHeaders: CorsHeaders | undefined
  /** Its place in its trace, once it goes to an upstream; undefined = nothing is traced. */
  trace: Trace | undefined
  /** Who may have what it asks for; undefined until that is found. */
  access: Access | undefined
  /** Who is calling, and whether that is somebody who may; undefined until it is decided. */
  decision: Decision | undefined
  readonly outcome: Outcome
}

/** What happened to a request, for its log line and the metrics; filled in on the way. */
export interface Outcome {
  /** Name of the route, `_gateway` or `_unmatched`. */
  route: string
  upstream: string | undefined
  /** The status of the answer, once there is one. */
  status: number | undefined
  code: ErrorCode | undefined
  /** Why it failed, in words for the operator. */
  reason: string | undefined
  /** The account that a sign-in was for. */
  accountId: string | undefined
  /** What was thrown that nobody reckoned with: a fault of the gateway. */
  fault: unknown
  /** When it left for the upstream, and when the whole answer had come. */
  sentAt: number | undefined
  answeredAt: number | undefined
}

/** Where a request wants to go, once that is unambiguous. */
export interface Destination {
  readonly target: RequestTarget
  /** In lower case, without port. */
  readonly hostName: string
}

/** The route name of a request that matches no route. */
export const unmatchedRouteName = '_unmatched'
/** The route name of requests that the gateway answers itself. */
export const ownRouteName = '_gateway'
const arrivalKey = Symbol('arrival')
const requestIdPattern = /^[!-~]{1,128}$/

/** Reads a request that has arrived. */
export function createArrival(
  connection: ClientConnection,
  head: RequestHead,
  trusted: TrustedProxies,
): Arrival {
  const fields = head.isCachedHead ? cachedFields(head.rawHeaders) : readRequestFields(head.rawHeaders)
  const { forwardedFor, forwardedProto, forwardedHost } = fields
  const claims = {
    peer: connection.peerAddress,
    protocol: connection.protocol,
    host: fields.host ?? '',
    forwardedFor,
    forwardedProto,
    forwardedHost,
  }
  const client = readClient(claims, trusted)
  return {
    connection,
    head,
    requestId: trustedRequestId(fields, client.isTrusted) ?? createRequestId(),
    arrivedAt: performance.now(),
    client,
    fields,
    destination: undefined,
    corsHeaders: undefined,
    trace: undefined,
    access: undefined,
    decision: undefined,
    outcome: {
      route: unmatchedRouteName,
      upstream: undefined,
      status: undefined,
      code: undefined,
      reason: undefined,
      accountId: undefined,
      fault: undefined,
      sentAt: undefined,
      answeredAt: undefined,
    },
  }
}

/** Who is calling, once they were let in; undefined for nobody in particular. */
export function principalOf({ decision }: Arrival): Principal | undefined {
  return decision?.kind === 'allowed' ? decision.principal : undefined
}

/** Fields of heads that come again and again: read once for all of them. */
const fieldsCache = new WeakMap<readonly string[], RequestFields>()

function cachedFields(rawHeaders: readonly string[]): RequestFields {
  const cached = fieldsCache.get(rawHeaders)
  if (cached !== undefined) return cached
  const fields = readRequestFields(rawHeaders)
  fieldsCache.set(rawHeaders, fields)
  return fields
}

/** Attaches its arrival to a request of the JSON scope. */
export function attachArrival(request: IncomingMessage, arrival: Arrival): void {
  Object.assign(request, { [arrivalKey]: arrival })
}

/** The arrival that rememberArrival attached. */
export function arrivalOf(request: IncomingMessage): Arrival {
  // The cast is sound: only rememberArrival writes this key, before any other code sees the request.
  const arrival = (request as { [arrivalKey]?: Arrival })[arrivalKey]
  if (!arrival) throw new Error('a request that never arrived')
  return arrival
}

/**
 * Reads where the request wants to go, and sets it in the arrival.
 * @throws GatehouseError `path-ambiguous`, `request-invalid`
 */
export function readDestination(arrival: Arrival): Destination {
  const destination = parseDestination(arrival.head.target, arrival.fields)
  arrival.destination = destination
  return destination
}

/** @throws GatehouseError `path-ambiguous`, `request-invalid` */
export function parseDestination(sentTarget: string, fields: RequestFields): Destination {
  const target = parseRequestTarget(sentTarget)
  if (!target) throw new GatehouseError('path-ambiguous')
  return { target, hostName: parseHostName(fields) }
}

/** In lower case, without port. @throws GatehouseError `request-invalid` */
export function parseHostName({ host, isHostRepeated }: RequestFields): string {
  const hostName = host === undefined || isHostRepeated ? undefined : parseHost(host)
  if (hostName === undefined) throw hostError(host, isHostRepeated)
  return hostName
}

/** Where a request of the JSON scope wants to go. */
export function destinationOf(request: IncomingMessage): Destination {
  const { destination } = arrivalOf(request)
  if (!destination) throw new Error('a request without a destination')
  return destination
}

function hostError(host: string | undefined, isRepeated: boolean): GatehouseError {
  const message =
    host === undefined ? 'is missing' : isRepeated ? 'came more than once' : 'is not well-formed'
  return new GatehouseError('request-invalid', {
    detail: 'There must be exactly one well-formed Host header.',
    errors: [{ field: 'Host', message }],
  })
}

/** The ID that came with a request, if its sender is trusted. */
export function trustedRequestId({ requestId }: RequestFields, isTrusted: boolean): string | undefined {
  return isTrusted && requestId !== undefined && requestIdPattern.test(requestId) ? requestId : undefined
}
