import { GatehouseError } from '../errors/gatehouse-error.ts'
import type { RequestHead } from '../exchange/request-head.ts'
import type { Route } from '../routes/route.ts'
import type { Arrival } from './arrival.ts'
import type { CheckDavDestination, DavDestinationResult } from './dav-destination.ts'
import type { Gate } from './gate.ts'
import { toGatehouseError } from './refusals/problem.ts'

export interface AdmissionOptions<MatchedRoute extends Route<unknown>, Came extends Arrival> {
  readonly gate: Gate<MatchedRoute, Came>
  readonly checkDavDestination: CheckDavDestination
  /** The head that the connection got. */
  sentHead(arrival: Came): RequestHead
  /** @param davDestination path and query of the Destination for the upstream; undefined = there is none */
  admit(route: MatchedRoute, arrival: Came, davDestination: string | undefined): void
  refuse(arrival: Came, error: GatehouseError): void
}

/**
 * Passes a request through the gate, and its Destination too, if it has one: then it is admitted or refused, at once if
 * all is cached. A request whose client has disconnected in the meantime is neither.
 * @throws GatehouseError if it cannot be decided, and what `admit` throws; later both are passed to `refuse`
 */
export function createAdmission<MatchedRoute extends Route<unknown>, Came extends Arrival>(
  options: AdmissionOptions<MatchedRoute, Came>,
): (arrival: Came) => void {
  const { gate, checkDavDestination, sentHead, admit, refuse } = options

  function dispatch(result: MatchedRoute | GatehouseError, arrival: Came): void {
    if (result instanceof GatehouseError) refuse(arrival, result)
    else if (arrival.fields.uncommon.davDestination === undefined) admit(result, arrival, undefined)
    else admitWithDestination(result, arrival)
  }

  function admitWithDestination(route: MatchedRoute, arrival: Came): void {
    const admitOrRefuse = (checked: DavDestinationResult) => {
      if (checked instanceof GatehouseError) refuse(arrival, checked)
      else admit(route, arrival, checked)
    }
    const result = checkDavDestination(route, arrival)
    if (result instanceof Promise) whenSettled(arrival, result, admitOrRefuse)
    else admitOrRefuse(result)
  }

  function whenSettled<Result>(
    arrival: Came,
    result: Promise<Result>,
    next: (settled: Result) => void,
  ): void {
    const isWaiting = () => arrival.connection.head === sentHead(arrival)
    result
      .then((settled) => {
        if (isWaiting()) next(settled)
      })
      .catch((error: unknown) => {
        if (isWaiting()) refuse(arrival, toGatehouseError(error))
      })
  }

  function dispatchLater(result: Promise<MatchedRoute | GatehouseError>, arrival: Came): void {
    whenSettled(arrival, result, (settled) => dispatch(settled, arrival))
  }

  // No function within it: V8 would allocate what it captures for each request, whether it is called or not.
  return function passGate(arrival) {
    const result = gate(arrival)
    if (result instanceof Promise) dispatchLater(result, arrival)
    else dispatch(result, arrival)
  }
}
