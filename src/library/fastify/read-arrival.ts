import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { malformedError } from '#gateway/refusals/unreadable.ts'
import {
  type Arrival,
  type ArrivalReader,
  attachArrival,
  attachedArrivalOf,
  createArrival,
} from '#gateway/server/arrival.ts'
import { MalformedMessage } from '#http/exchange/request-head.ts'
import { readRequestFraming } from '#http/h1/request-framing.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { AppConnection, type ReadHead } from './app-connection.ts'

/** A request of an app, as the decisions of the gateway know it. */
export type AppArrival = Arrival<AppConnection>

/** Reads a request that Node's HTTP server has parsed; the same arrival each time. */
export function readAppArrival(request: IncomingMessage, reader: ArrivalReader): AppArrival {
  const known = appArrivalOf(request)
  if (known) return known
  const readHead = readHeadOf(request)
  const arrival = createArrival(new AppConnection(request, readHead), readHead.head, reader)
  attachArrival(request, arrival)
  return arrival
}

/** The arrival of a request; undefined where it has not been read. */
export function appArrivalOf(request: IncomingMessage): AppArrival | undefined {
  // The cast is sound: in an app only readAppArrival attaches arrivals.
  return attachedArrivalOf(request) as AppArrival | undefined
}

/**
 * Connections on which a request came that could be read in two ways, and why. Node reads on behind it by its own
 * reading, and hands over what it takes for the next request: nothing of that is served.
 */
const refusedConnections = new WeakMap<Socket, GatehouseError>()

function readHeadOf(request: IncomingMessage): ReadHead {
  const { method = '', url = '', rawHeaders, httpVersionMinor, socket } = request
  const read = { method, target: url, minorVersion: httpVersionMinor, rawHeaders }
  const earlier = refusedConnections.get(socket)
  if (earlier) return { head: { ...read, ...unknownFraming }, malformed: earlier }
  try {
    const framing = readRequestFraming(rawHeaders, httpVersionMinor)
    return { head: { ...read, ...framing }, malformed: undefined }
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error
    const malformed = malformedError(error)
    refusedConnections.set(socket, malformed)
    return { head: { ...read, ...unknownFraming }, malformed }
  }
}

/** Nothing more is read from such a connection. */
const unknownFraming = {
  body: { kind: 'chunked' },
  isPersistent: false,
  expectsContinue: false,
  upgrade: undefined,
} as const
