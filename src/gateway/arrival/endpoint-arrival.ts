import type { IncomingMessage } from 'node:http'
import type { ClientExchange } from '#http/client-exchange.ts'
import { userAgentLengthMax, type Visitor } from '#store/sessions.ts'
import type { Arrival } from './arrival.ts'

/** What the gateway's own endpoints need of a request's exchange. */
export type EndpointExchange = Pick<
  ClientExchange,
  'peerAddress' | 'protocol' | 'clientCertificate' | 'bodyState' | 'canPersist' | 'abort'
>

const arrivalKey = Symbol('arrival')

/** Attaches its arrival to a request for the gateway's own endpoints. */
export function attachArrival(request: IncomingMessage, arrival: Arrival<EndpointExchange>): void {
  Object.assign(request, { [arrivalKey]: arrival })
}

/** The arrival that attachArrival attached. */
export function arrivalOf(request: IncomingMessage): Arrival<EndpointExchange> {
  const arrival = attachedArrivalOf(request)
  if (!arrival) throw new Error('no arrival is attached to this request')
  return arrival
}

/** The arrival that attachArrival attached; undefined where none was. */
export function attachedArrivalOf(request: IncomingMessage): Arrival<EndpointExchange> | undefined {
  // The cast is sound: only attachArrival writes this key, before any other code sees the request.
  return (request as { [arrivalKey]?: Arrival<EndpointExchange> })[arrivalKey]
}

/** The origin of a request, as stored with sessions and in the audit log. */
export function visitorOf(request: IncomingMessage): Visitor {
  const userAgent = request.headers['user-agent'] ?? ''
  return {
    address: arrivalOf(request).client.address,
    userAgent: userAgent.slice(0, userAgentLengthMax).toWellFormed(),
  }
}
