import type { IncomingMessage } from 'node:http'
import {
  type Arrival,
  type ArrivalReader,
  attachArrival,
  attachedArrivalOf,
  createArrival,
} from '../../http/arrival.ts'
import { malformedError } from '../../http/refusals/unreadable.ts'
import { MalformedMessage } from '../../http1/malformed-message.ts'
import { readRequestFraming } from '../../http1/request-framing.ts'
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

function readHeadOf({ method = '', url = '', rawHeaders, httpVersionMinor }: IncomingMessage): ReadHead {
  const read = { method, target: url, minorVersion: httpVersionMinor, rawHeaders, isCachedHead: false }
  try {
    const framing = readRequestFraming(rawHeaders, httpVersionMinor)
    return { head: { ...read, ...framing }, malformed: undefined }
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error
    return { head: { ...read, ...unknownFraming }, malformed: malformedError(error) }
  }
}

/** Nothing more is read from such a connection. */
const unknownFraming = {
  body: { kind: 'chunked' },
  isPersistent: false,
  expectsContinue: false,
  upgrade: undefined,
} as const
