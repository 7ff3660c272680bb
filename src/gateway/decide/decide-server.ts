import { framingNames, NameTable } from '#http/h1/name-table.ts'
import type { ArrivalReader } from '../server/arrival.ts'
import {
  type ArrivalServer,
  createArrivalServer,
  type ListenerEvents,
  type ServerOptions,
} from '../server/arrival-server.ts'
import type { Observer } from '../server/observe.ts'
import type { DecideArrival, ReadDecideArrival } from './decide-arrival.ts'
import { type DecideHandler, refuseDecision } from './decide-request.ts'

/** How requests of proxies are handled under one config. */
export interface DecideTraffic extends Pick<ArrivalReader, 'trusted'> {
  readonly observer: Observer
  readonly read: ReadDecideArrival
  readonly decide: DecideHandler
}

export interface DecideServerOptions extends ServerOptions, ListenerEvents {
  /** Read once for each request. */
  traffic(): DecideTraffic
}

const names = new NameTable(framingNames)

/** The listener for other proxies: they describe a request, and are told whether to forward it, and as whose. */
export function createDecideServer(options: DecideServerOptions): ArrivalServer {
  return createArrivalServer<DecideTraffic, DecideArrival>(options, {
    traffic: options.traffic,
    names: () => names,
    read: (connection, head, { read }) => read(connection, head),
    handle: (arrival, { decide }) => decide(arrival),
    refuse: refuseDecision,
    abort: refuseDecision,
    // Every response is one of a connection, which says whether it is the last.
    startDrain: () => {},
  })
}
