import type { BodyTooSlow, MalformedMessage, RequestHead } from '#http/request-head.ts'
import type { Upstream } from '#http/upstream/upstream.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { memoize, memoizeByObject } from '#platform/memoize.ts'
import { monotonicClock } from '#platform/time.ts'
import type { Arrival } from '../arrival/arrival.ts'
import {
  destinationOf,
  type Outcome,
  principalOf,
  recordAnswered,
  recordSent,
  recordStatus,
} from '../arrival/outcome.ts'
import type { RenewAccessCookie } from '../browser/cookie-renewal.ts'
import type { RedirectToSignIn } from '../browser/sign-in-redirect.ts'
import { type AdmittedRequest, askForUsage } from '../forward/asked-usage.ts'
import { forward } from '../forward/forward.ts'
import type {
  ForwardEvents,
  ForwardedRequest,
  ForwardTerms,
  SecondTargets,
} from '../forward/forwarded-request.ts'
import type { HeldBodies } from '../forward/held-bodies.ts'
import { createBodyCost, createCostField } from '../forward/response-cost.ts'
import { isOfGrpc } from '../forward/upstream-answer.ts'
import type { RequestWriter } from '../forward/upstream-head.ts'
import { createDecisionEffects } from '../gate/decision-effects.ts'
import { createGate, type GateOptions } from '../gate/gate.ts'
import { createPassGate } from '../gate/pass-gate.ts'
import { createHeadPreparation, type HeadPreparationOptions } from '../gate/prepare-head.ts'
import { findForwardingRoute } from '../gate/route-request.ts'
import type { CheckSecondTargets } from '../gate/second-targets.ts'
import { checkUpgrade, isWebSocketUpgrade } from '../gate/upgrades.ts'
import type { Forwarding } from '../lane/lane-arrival.ts'
import type { LaneRequest } from '../lane/lane-request.ts'
import { isGrpcCall } from '../refusals/grpc-calls.ts'
import { prefersHtml } from '../refusals/problem-text.ts'
import { answerErrorPage, answerProblem, brokenBodyError } from '../refusals/send-problem.ts'
import { type Route, standardMethods } from '../routes/route.ts'
import type { RouteTable } from '../routes/table.ts'
import { joinTunnel } from './join-tunnel.ts'
import { answerOptions } from './no-content.ts'
import type { OpenCallers } from './open-callers.ts'
import type { UsageMeter } from './usage-meter.ts'

interface ProxyOptions extends HeadPreparationOptions {
  readonly gate: Omit<GateOptions<Route<Upstream>>, 'findRoute'>
  readonly table: RouteTable<Upstream | undefined>
  readonly terms: ForwardTerms
  readonly openCallers: Pick<OpenCallers, 'followTunnel' | 'followStream'>
  readonly writer: RequestWriter
  readonly checkSecondTargets: CheckSecondTargets
  /** See createGrpcCallFollower. */
  readonly onGrpcCall: (outcome: Outcome) => void
  /** Of routes with includeUsage. */
  readonly heldBodies: HeldBodies
  /** Called for a WebSocket upgrade that is forwarded as an ordinary request, as its route has no WebSockets. */
  readonly onIgnoredUpgrade: (route: string) => void
  readonly usageMeter: UsageMeter
  /** The link to the portal: a path, or a URL if it has a host of its own; undefined = there is no portal. */
  readonly portalLink: string | undefined
  /** undefined = no route takes the access cookie. */
  readonly renewAccessCookie: RenewAccessCookie | undefined
  /** undefined = no route leads page visits to the sign-in. */
  readonly redirectToSignIn: RedirectToSignIn | undefined
}

export interface RequestProxy {
  /**
   * Proxies a request that is not for the gateway itself.
   * @throws GatehouseError if it cannot be decided or forwarded
   */
  handle(arrival: Arrival): void
  /**
   * Proxies a request that the fast lane has decided about.
   * @throws as `handle` does
   */
  handleOrdinary(request: LaneRequest): void
  /** What the fast lane needs for forwarding. */
  readonly forwarding: Forwarding
}

/**
 * The proxy path: a request is matched to its route, authenticated and authorised, and only then forwarded. Its body is
 * relayed unread except on routes with `includeUsage`, the body of its response except on routes with `costField`.
 */
export function createProxy(options: ProxyOptions): RequestProxy {
  const {
    table,
    writer,
    terms,
    usageMeter,
    onIgnoredUpgrade,
    checkSecondTargets,
    redirectToSignIn,
    renewAccessCookie,
    onGrpcCall,
  } = options
  const prepareHead = createHeadPreparation(options)
  const findRoute = (arrival: Arrival) => {
    const route = findForwardingRoute(table, arrival)
    if (route instanceof GatehouseError || arrival.head.upgrade === undefined) return route
    return checkUpgrade(table, route, arrival)
  }
  // Shared by the lane and the general path.
  const effects = createDecisionEffects(options.gate)
  const gate = createGate<Route<Upstream>>({ ...options.gate, findRoute }, effects)
  const events = createEvents(options)
  const costFieldOf = memoize(createCostField)
  const bodyCostOf = memoizeByObject(createBodyCost)

  /** @param secondTargets after their check; undefined = the request names none */
  function forwardToUpstream(
    route: Route<Upstream>,
    arrival: Arrival,
    secondTargets: SecondTargets | undefined,
  ): void {
    const headInput = prepareHead(route, arrival)
    // The gateway is the final recipient (Max-Forwards).
    if (!headInput) answerOptions(arrival, route.methods ?? standardMethods)
    else if (!route.includesUsage) send({ route, arrival, headInput }, secondTargets)
    else
      askForUsage(
        options.heldBodies,
        { route, arrival, headInput },
        {
          send: (request) => send(request, secondTargets),
          fail: (error) => answerFailure(arrival, error),
        },
      )
  }

  function send(
    { route, arrival, headInput, heldBody }: AdmittedRequest<Upstream>,
    secondTargets: SecondTargets | undefined,
  ): void {
    const { head, outcome } = arrival
    const { principal, strippedPrefix, isUpgrade, isLast } = headInput
    if (head.upgrade !== undefined && !isUpgrade && isWebSocketUpgrade(head)) onIgnoredUpgrade(route.name)
    if (principal !== undefined) usageMeter.onForwarded(route, principal, arrival.arrivedAt)
    if (mayBeGrpcCall(route, head)) onGrpcCall(outcome)
    forward(
      {
        arrival,
        route,
        terms,
        destination: destinationOf(outcome),
        strippedPrefix,
        secondTargets,
        headerLines: writer.writeHead(headInput),
        isLast,
        accountId: principal?.accountId,
        isUpgrade,
        isConversation: isConversation(arrival),
        isFollowed: route.browser !== undefined && principal !== undefined,
        corsHeaders: outcome.corsHeaders,
        allowances: outcome.allowances,
        heldBody,
        renewCookie: route.browser && renewAccessCookie?.(arrival),
        costField: route.costHeader === undefined ? undefined : costFieldOf(route.costHeader),
        bodyCost: route.costField === undefined ? undefined : bodyCostOf(route.costField),
      },
      events,
    )
  }

  /** A person in a browser gets an HTML page. */
  function refuse(arrival: Arrival, error: GatehouseError): void {
    if (redirectToSignIn?.(arrival, error)) return
    const isPage = pageCodes.has(error.code) || arrival.outcome.browser?.signIn === true
    const wantsPage = isPage && prefersHtml(arrival.head)
    if (wantsPage) answerErrorPage(arrival, error, options.portalLink)
    else answerProblem(arrival, error)
  }

  const handleOrdinary = createPassGate<Route<Upstream>, LaneRequest>({
    gate: (request) => effects.apply(request.route, request, request.decision),
    checkSecondTargets,
    admit: (route, request) => {
      const principal = principalOf(request.outcome)
      if (principal !== undefined) usageMeter.onForwarded(route, principal, request.arrivedAt)
      if (mayBeGrpcCall(route, request.head)) onGrpcCall(request.outcome)
      request.forward()
    },
    refuse,
  })
  const handle = createPassGate<Route<Upstream>, Arrival>({
    gate,
    checkSecondTargets,
    admit: forwardToUpstream,
    refuse,
  })
  return { handle, handleOrdinary, forwarding: { terms, events } }
}

/** Refusals that do not depend on the caller: people get a page on any route. */
const pageCodes: ReadonlySet<ErrorCode> = new Set(['route-not-found', 'route-denied'])

function answerFailure(arrival: Arrival, error: GatehouseError | MalformedMessage | BodyTooSlow): void {
  answerProblem(arrival, error instanceof GatehouseError ? error : brokenBodyError(error))
}

/** Only targets of HTTP/2 speak gRPC. Hot: the fields are read last, as that slices all of them from the head. */
function mayBeGrpcCall({ upstream }: Route<Upstream>, head: RequestHead): boolean {
  return upstream.config.protocol === 'http2' && head.upgrade === undefined && isOfGrpc(head.rawHeaders)
}

/** Only of known callers: anybody can spell a slow upload like a call. */
function isConversation({ exchange, head, outcome }: Arrival): boolean {
  const mayBe = outcome.mayBeGrpcCall && exchange.isHttp2 && principalOf(outcome) !== undefined
  return mayBe && isGrpcCall(head)
}

interface ProxiedRequest extends ForwardedRequest {
  readonly arrival: Arrival
  readonly route: Route<Upstream>
}

function createEvents({
  openCallers: { followTunnel, followStream },
  onGrpcCall,
  usageMeter,
}: ProxyOptions): ForwardEvents<ProxiedRequest> {
  return {
    onSent: ({ arrival }, now, target) => {
      recordSent(arrival.outcome, now, target)
    },
    onResponseHead: ({ arrival }, status) => {
      recordStatus(arrival.outcome, status)
    },
    onGrpcResponse: ({ arrival }) => onGrpcCall(arrival.outcome),
    onEventStream: ({ arrival }) => followStream(arrival, () => arrival.exchange.abort()),
    onUnits: ({ arrival, route }, units) => {
      const principal = principalOf(arrival.outcome)
      if (principal !== undefined) usageMeter.onUnits(route, principal, units)
    },
    onResponseEnd: ({ arrival }) => {
      recordAnswered(arrival.outcome, monotonicClock())
    },
    onFailed: ({ arrival }, error) => answerFailure(arrival, error),
    onUpgraded: ({ arrival }, accepted) => {
      recordAnswered(arrival.outcome, monotonicClock())
      followTunnel(arrival, (onClosed) => joinTunnel(arrival, accepted, onClosed))
    },
  }
}
