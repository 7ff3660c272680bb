import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Arrival } from '../arrival/arrival.ts'
import type { SecondTargets } from '../forward/forwarded-request.ts'
import type { HeadUpstream } from '../forward/upstream-head.ts'
import { toGatehouseError } from '../refusals/send-problem.ts'
import type { Route } from '../routes/route.ts'
import type { Gate } from './gate.ts'
import type { CheckSecondTargets } from './second-targets.ts'

interface PassGateOptions<MatchedRoute extends Route<HeadUpstream | undefined>, Incoming extends Arrival> {
  readonly gate: Gate<MatchedRoute, Incoming>
  readonly checkSecondTargets: CheckSecondTargets
  /** @param secondTargets undefined = the request names none */
  admit(route: MatchedRoute, arrival: Incoming, secondTargets: SecondTargets | undefined): void
  refuse(arrival: Incoming, error: GatehouseError): void
}

/**
 * Passes a request and its second targets through the gate, then admits or refuses it, synchronously if everything is
 * cached. A request whose client has disconnected in the meantime is neither admitted nor refused.
 * @throws GatehouseError if it cannot be decided, and what `admit` throws; asynchronously, both are passed to `refuse`
 */
export function createPassGate<
  MatchedRoute extends Route<HeadUpstream | undefined>,
  Incoming extends Arrival,
>(options: PassGateOptions<MatchedRoute, Incoming>): (arrival: Incoming) => void {
  const { gate, checkSecondTargets, admit, refuse } = options

  function dispatch(arrival: Incoming, result: MatchedRoute | GatehouseError): void {
    if (result instanceof GatehouseError) refuse(arrival, result)
    else if (arrival.fields.uncommon.secondTargets === undefined) admit(result, arrival, undefined)
    else admitWithTargets(result, arrival)
  }

  function admitWithTargets(route: MatchedRoute, arrival: Incoming): void {
    whenSettled(arrival, checkSecondTargets(route, arrival), (checked) => {
      if (checked instanceof GatehouseError) refuse(arrival, checked)
      else admit(route, arrival, checked)
    })
  }

  function whenSettled<Result>(
    arrival: Incoming,
    result: Promise<Result>,
    next: (settled: Result) => void,
  ): void {
    const { exchange } = arrival
    // That of the connection: another proxy has described another one.
    const { head } = exchange
    const isWaiting = () => exchange.head === head
    result
      .then((settled) => {
        if (isWaiting()) next(settled)
      })
      .catch((error: unknown) => {
        if (isWaiting()) refuse(arrival, toGatehouseError(error))
      })
  }

  return function passGate(arrival) {
    const result = gate(arrival)
    if (result instanceof Promise) whenSettled(arrival, result, dispatch.bind(undefined, arrival))
    else dispatch(arrival, result)
  }
}
