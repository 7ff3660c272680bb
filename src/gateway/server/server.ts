import type { NameTable } from '#http/message/name-table.ts'
import { type Arrival, type ArrivalReader, createArrival } from '../arrival/arrival.ts'
import { type ChooseHandlerOptions, chooseHandler } from '../gate/choose-handler.ts'
import type { RecognizeOrdinary } from '../lane/fast-lane.ts'
import { LaneRequest } from '../lane/lane-request.ts'
import { answerProblem } from '../refusals/send-problem.ts'
import { standardMethods } from '../routes/route.ts'
import { type ArrivalServer, createArrivalServer, type ListenerOptions } from './arrival-server.ts'
import { answerNoContent, answerOptions } from './no-content.ts'
import type { Observer } from './observe.ts'
import { createOwnEndpoints, type EndpointParts } from './own-endpoints.ts'
import type { RequestProxy } from './proxy.ts'

/** How requests are handled under one config. A reload replaces it as a whole: no request meets two of them. */
export interface Traffic extends ChooseHandlerOptions, ArrivalReader {
  readonly observer: Observer
  /** The gateway's own endpoints. */
  readonly api: EndpointParts['api']
  readonly ownPaths: ChooseHandlerOptions['ownPaths'] & EndpointParts['ownPaths']
  readonly proxy: Omit<RequestProxy, 'forwarding'>
  /** undefined = no request of this config is ordinary. */
  readonly fastLane: RecognizeOrdinary | undefined
  /** The request fields that are not simply forwarded. */
  readonly names: NameTable
}

interface GatewayServerOptions extends ListenerOptions<Traffic> {
  /** The names of the current traffic. Called for each head. */
  names(): NameTable
}

/** The main listener: every request arrives here, and is dispatched by its path. */
export function createGatewayServer(options: GatewayServerOptions): ArrivalServer {
  const own = createOwnEndpoints()

  function routeRequest(arrival: Arrival, traffic: Traffic): void {
    const handledBy = chooseHandler(arrival, traffic)
    switch (handledBy) {
      case 'server':
        answerOptions(arrival, standardMethods)
        return
      case 'own':
        own.handle(arrival, traffic)
        return
      case 'routes':
        traffic.proxy.handle(arrival)
        return
      default:
        answerNoContent(arrival, handledBy.lines)
    }
  }

  return createArrivalServer<Traffic, Arrival>(options, {
    names: options.names,
    speaksGrpc: true,
    read: (exchange, head, traffic) =>
      traffic.fastLane?.(exchange, head) ?? createArrival(exchange, head, traffic),
    handle: (arrival, traffic) => {
      if (arrival instanceof LaneRequest) traffic.proxy.handleOrdinary(arrival)
      else routeRequest(arrival, traffic)
    },
    refuse: answerProblem,
    abort: (arrival, error) => {
      if (own.abort(arrival, error)) return
      arrival.exchange.detach()
      answerProblem(arrival, error)
    },
    startDrain: own.startDrain,
  })
}
