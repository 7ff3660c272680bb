import type { ClientExchange } from '../exchange/client-exchange.ts'
import type { AddressSet } from '../platform/address-ranges.ts'
import { copyString } from '../platform/copy-string.ts'
import type { Client } from '../proxy/client.ts'
import type { RepeatedHead } from '../proxy/request-head.ts'
import type { Route } from '../routes/route.ts'
import type { RouteTable } from '../routes/table.ts'
import type { Destination } from './outcome.ts'

/**
 * What was derived from requests whose fields repeat, each with all that it depends on beside these fields: most clients
 * send from one address, and many ask for one path again and again.
 */
export interface RepeatedRequest extends RepeatedHead {
  client: KnownClient | undefined
  /** The last target that is not that of the known destination. */
  lastTarget: string
  destination: KnownDestination | undefined
  route: KnownRoute | undefined
}

interface KnownClient {
  readonly client: Client
  readonly trusted: AddressSet
  readonly peer: string
  readonly protocol: ClientExchange['protocol']
}

/** A destination that belongs to the routes. */
interface KnownDestination {
  readonly destination: Destination
  /** The options of `chooseScope`. */
  readonly options: object
  readonly method: string
  readonly sentTarget: string
}

interface KnownRoute {
  readonly route: Route<unknown>
  readonly table: RouteTable<unknown>
  readonly destination: Destination
  readonly method: string
}

export function createRepeatedRequest(): RepeatedRequest {
  return { lines: undefined, client: undefined, lastTarget: '', destination: undefined, route: undefined }
}

/** Longer targets are read each time: all that repeats has its bound. */
const targetLengthMax = 256

/** Whether a target repeats: from the second time in a row on. @returns a copy of it, to be kept; undefined = not yet */
export function repeatedTarget(repeated: RepeatedRequest, target: string): string | undefined {
  if (target.length > targetLengthMax) return undefined
  // A slice of the head, which is kept no longer than the fields, and they hold the same secrets.
  if (repeated.lastTarget === target) return copyString(target)
  repeated.lastTarget = target
  return undefined
}
