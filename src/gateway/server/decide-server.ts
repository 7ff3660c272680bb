import { framingTable } from '#http/message/name-table.ts'
import { onlyValueOf } from '#http/request-head.ts'
import type { Principal } from '#identity/decision.ts'
import { parseTraceparent, type Trace, type Tracer, traceparentOf } from '#ops/tracing/tracer.ts'
import { type GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import { dateLine } from '#platform/http.ts'
import { memoizeByObject } from '#platform/memoize.ts'
import type { ArrivalReader } from '../arrival/arrival.ts'
import { forgetAllowances, principalOf, recordStatus, recordTrace } from '../arrival/outcome.ts'
import type { RedirectToSignIn } from '../browser/sign-in-redirect.ts'
import {
  type AssertionHeader,
  type IdentityHeaders,
  identityFieldsOf,
  identityValue,
} from '../forward/identity-headers.ts'
import type { HeadUpstream } from '../forward/upstream-head.ts'
import { type ChooseHandlerOptions, chooseHandler, type HandledBy } from '../gate/choose-handler.ts'
import { createGate, type GateOptions } from '../gate/gate.ts'
import { createPassGate } from '../gate/pass-gate.ts'
import { findRoute } from '../gate/route-request.ts'
import type { CheckSecondTargets } from '../gate/second-targets.ts'
import { answerProblem } from '../refusals/send-problem.ts'
import type { Route } from '../routes/route.ts'
import type { RouteTable } from '../routes/table.ts'
import { type ArrivalServer, createArrivalServer, type ListenerOptions } from './arrival-server.ts'
import type { DecideArrival, ReadDecideArrival } from './decide-arrival.ts'
import type { Observer } from './observe.ts'
import type { UsageMeter } from './usage-meter.ts'

/** How requests of proxies are handled under one config. */
export interface DecideTraffic extends Pick<ArrivalReader, 'trusted'> {
  readonly observer: Observer
  readonly read: ReadDecideArrival
  readonly decide: DecideHandler
}

/**
 * The listener for other proxies: they describe a request, and are told whether to forward it, and with which identity.
 */
export function createDecideServer(options: ListenerOptions<DecideTraffic>): ArrivalServer {
  return createArrivalServer<DecideTraffic, DecideArrival>(options, {
    names: () => framingTable,
    read: (exchange, head, { read }) => read(exchange, head),
    handle: (arrival, { decide }) => decide(arrival),
    refuse: refuseDecision,
    abort: refuseDecision,
    // Nothing to do: each response says for itself whether it is the last of its connection.
    startDrain: () => {},
  })
}

/** A route that may have no upstream here. */
type DecidedRoute = Route<HeadUpstream | undefined>

interface DecideOptions extends ChooseHandlerOptions {
  readonly gate: Omit<GateOptions<DecidedRoute>, 'findRoute' | 'steps'>
  readonly table: RouteTable<HeadUpstream | undefined>
  readonly writeDecision: WriteDecision
  readonly checkSecondTargets: CheckSecondTargets
  readonly usageMeter: UsageMeter
  /** undefined = no route leads page visits to the sign-in. */
  readonly redirectToSignIn?: RedirectToSignIn | undefined
  /** undefined = the client's traceparent is passed on. */
  readonly tracer: Tracer | undefined
}

/**
 * Decides about a described request, and answers the proxy.
 * @throws GatehouseError if it is refused before its route is found
 */
type DecideHandler = (arrival: DecideArrival) => void

/** The steps of the main listener, up to the point where it would forward the request, which here the proxy does. */
export function createDecide(options: DecideOptions): DecideHandler {
  const { table, writeDecision, usageMeter, tracer, checkSecondTargets, redirectToSignIn } = options
  const gate = createGate<DecidedRoute>({
    ...options.gate,
    findRoute: (arrival) => findRoute(table, arrival),
  })

  function allow(route: DecidedRoute, arrival: DecideArrival): void {
    const { exchange, head, outcome, requestId, arrivedAt } = arrival
    const principal = principalOf(outcome)
    const trace = tracer?.startTrace(head.rawHeaders)
    if (trace) recordTrace(outcome, trace)
    // First, before anything is counted: the request is refused if its assertion cannot be signed.
    const lines = writeDecision({ principal, route, requestId, rawHeaders: head.rawHeaders, trace })
    // A `costHeader` would be in the backend's response, which never comes here.
    if (principal !== undefined) usageMeter.onDecided(route, principal, arrivedAt)
    recordStatus(outcome, 200)
    exchange.respond(200, 'OK', `${lines}${dateLine()}Content-Length: 0\r\n`, 'none')
    exchange.end()
  }

  const passGate = createPassGate<DecidedRoute, DecideArrival>({
    gate,
    checkSecondTargets,
    // The proxy forwards second targets unchanged, so here they are only checked.
    admit: allow,
    refuse: (arrival, error) => {
      // A proxy that knows only 401 and 403 reads Location from a 401.
      const sentStatus = arrival.refusalStatus === undefined ? undefined : 401
      if (!redirectToSignIn?.(arrival, error, sentStatus)) refuseDecision(arrival, error)
    },
  })

  return function decide(arrival) {
    const error = arrival.problem ?? undecidable(chooseHandler(arrival, options))
    if (error !== undefined) refuseDecision(arrival, error)
    else passGate(arrival)
  }
}

/**
 * Refuses to decide about a request that the gateway would answer itself: after a 2xx the proxy would forward it, and
 * its backend would get it unauthenticated.
 */
export function undecidable(handledBy: HandledBy): GatehouseError | undefined {
  switch (handledBy) {
    case 'routes':
      return undefined
    case 'own':
      return sharedError(
        'route-not-found',
        'This path belongs to the gateway itself: the proxy has to forward it to the main listener.',
      )
    default:
      return sharedError(
        'route-not-found',
        'The main listener answers such OPTIONS requests itself: the proxy has to forward them there.',
      )
  }
}

/** Sends the problem that the main listener would send; the proxy may get another status. */
function refuseDecision(arrival: DecideArrival, error: GatehouseError): void {
  const { status } = error
  const { refusalStatus, outcome } = arrival
  // A proxy that gets 403 for all tells a refusal for a limit by its RateLimit fields.
  if (refusalStatus !== undefined) forgetAllowances(outcome)
  // The status is always explicit, as a refused gRPC call would otherwise get a 200, and the proxy would forward it.
  answerProblem(arrival, error, status === 401 ? status : (refusalStatus ?? status))
}

/** What the answer to an allowed request depends on. */
interface AllowedRequest {
  /** undefined = anonymous. */
  readonly principal: Principal | undefined
  readonly route: Pick<Route<{ readonly name: string } | undefined>, 'name' | 'upstream' | 'access'>
  readonly requestId: string
  /** What the proxy sent. */
  readonly rawHeaders: readonly string[]
  /** undefined = the client's traceparent is passed on. */
  readonly trace: Trace | undefined
}

/**
 * Writes what the proxy is to set on the request, as field lines.
 * @throws GatehouseError `store-unavailable` where the account could not be read, or no assertion can be signed
 */
type WriteDecision = (allowed: AllowedRequest) => string

/**
 * Every identity header is always written, with an empty value if the caller has none. A proxy that copies the headers
 * then overwrites what its client sent; some would keep the client's field if the answer lacked it.
 * @param assertion undefined = none is sent
 */
export function createDecisionWriter(
  identityHeaders: IdentityHeaders,
  assertion: AssertionHeader | undefined,
): WriteDecision {
  const fields = identityFieldsOf(identityHeaders)
  const anonymous = [...fields.map(({ name }) => name), ...(assertion ? [assertion.header] : [])]
    .map((name) => `${name}: \r\n`)
    .join('')

  const linesOf = memoizeByObject((principal: Principal) => ({
    lines: fields.map((field) => `${field.name}: ${identityValue(field, principal) ?? ''}\r\n`).join(''),
  }))

  function identity({ principal, route }: AllowedRequest): string {
    if (principal === undefined) return anonymous
    const { lines } = linesOf(principal)
    if (assertion === undefined) return lines
    // The audience is the upstream, or the route if it has none.
    return `${lines}${assertion.header}: ${assertion.of(principal, route.upstream?.name ?? route.name)}\r\n`
  }

  function traceLine({ trace, rawHeaders }: AllowedRequest): string {
    const traceparent = trace ? traceparentOf(trace) : onlyValueOf(rawHeaders, 'traceparent')
    if (traceparent === undefined || parseTraceparent(traceparent) === undefined) return ''
    return `traceparent: ${traceparent}\r\n`
  }

  return function writeDecision(allowed) {
    return `Cache-Control: no-store\r\nX-Request-Id: ${allowed.requestId}\r\n${authorizationLine(allowed)}${traceLine(allowed)}${identity(allowed)}`
  }
}

/** Tells the proxy to leave Authorization as its client sent it; without this line it removes the field. */
function authorizationLine({ route }: AllowedRequest): string {
  return route.access.leavesAuthorization ? 'X-Gatehouse-Authorization: backend\r\n' : ''
}
