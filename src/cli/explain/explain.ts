import type { Config } from '#config/config.ts'
import { type Cors, createCors } from '#gateway/arrival/cors.ts'
import { type Outcome, principalOf } from '#gateway/arrival/outcome.ts'
import { chooseHandler } from '#gateway/gate/choose-handler.ts'
import { createGate, type GateOptions } from '#gateway/gate/gate.ts'
import type { DecisionStep, StepListener } from '#gateway/gate/gate-result.ts'
import { createHeadPreparation } from '#gateway/gate/prepare-head.ts'
import { findForwardingRoute, findRoute, hasUpstream } from '#gateway/gate/route-request.ts'
import { createSecondTargetCheck } from '#gateway/gate/second-targets.ts'
import { compileRoutes } from '#gateway/routes/compile.ts'
import { createOwnPaths, type OwnPaths } from '#gateway/routes/own-paths.ts'
import { type GatedRoute, standardMethods } from '#gateway/routes/route.ts'
import { createRouteTable, type RouteTable } from '#gateway/routes/table.ts'
import { undecidable } from '#gateway/server/decide-server.ts'
import type { UpstreamConfig } from '#http/upstream/upstream-config.ts'
import type { Access } from '#identity/access.ts'
import { createTracer } from '#ops/tracing/tracer.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createBrowserParts } from '#runtime/assembly/forward-parts.ts'
import { describeDecision, describeSecondTargets, describeUpstream } from './describe-forward.ts'
import { describeLimits, describeRoute, type FoundRoute } from './describe-route.ts'
import {
  type CredentialBounds,
  describeCors,
  describeMethods,
  describePolicy,
  describePreflight,
  describePrincipal,
  describeRequest,
  describeScheme,
} from './describe-steps.ts'
import { createStepRecorder, type Explanation, type StepRecorder, type StepResult } from './explanation.ts'
import { explainOwnPath } from './own-path.ts'
import { type ExplainedArrival, type ExplainedRequest, readArrival } from './read-arrival.ts'
import { type ReadOnlyAuth, readOnlyGateOptions } from './read-only-auth.ts'

/**
 * What the gateway would decide about a request, step by step: the steps are those of the gateway, which tell a
 * listener what has passed. Nothing is sent, counted or changed.
 * @throws OperatorError if the store or the sealing key cannot be opened at all
 */
export async function explain(
  request: ExplainedRequest,
  config: Config,
  { schemes, clock }: Pick<ReadOnlyAuth, 'schemes' | 'clock'>,
): Promise<Explanation> {
  const upstreams = new Map(config.upstreams.map((upstream) => [upstream.name, upstream]))
  const table = createRouteTable(compileRoutes(config.routes, upstreams))
  const ownPaths = createOwnPaths(config.portal, config.routes, config)
  const cors = createCors({ ...config.cors, table, ownPaths })
  const { readAccessCookie, findSignIn } = createBrowserParts(config)
  const gateOptions = { ...readOnlyGateOptions(schemes, config, clock), readAccessCookie }
  const recorder = createStepRecorder({ failures: config.failures, findSignIn })
  return recorder.run(async () => {
    const arrival = readArrival(request, config)
    recorder.follow(arrival)
    const found: Found = { route: undefined }
    const describe = describersOf(arrival, { request, config, cors, table, found })
    const steps: StepListener = { passed: (step) => recorder.pass(step, describe[step]()) }

    const handledBy = chooseHandler(arrival, { cors, ownPaths }, steps)
    const isForProxy = request.listener === 'decide'
    const refusal = isForProxy ? undecidable(handledBy) : undefined
    if (refusal) throw refusal
    switch (handledBy) {
      case 'server':
        recorder.pass('cors', undefined)
        recorder.pass('route', describeMethods(standardMethods))
        return 'no-content'
      case 'own': {
        const passRoute = (result: StepResult) => recorder.pass('route', result)
        await explainOwnPath(arrival, { config, ownPaths, gateOptions, steps, passRoute })
        return 'answer'
      }
      case 'routes':
        return explainRoute(arrival, {
          config,
          table,
          ownPaths,
          gateOptions,
          steps,
          recorder,
          found,
          isForProxy,
        })
      default:
        recorder.pass('cors', describePreflight(arrival, handledBy))
        return 'no-content'
    }
  })
}

/** The route that was found; undefined until then. */
interface Found {
  route: FoundRoute | undefined
}

interface RouteContext {
  readonly config: Config
  readonly table: RouteTable<UpstreamConfig | undefined>
  readonly ownPaths: OwnPaths
  /** What the gate decides by. */
  readonly gateOptions: Omit<GateOptions<GatedRoute>, 'findRoute' | 'steps'>
  readonly steps: StepListener
  readonly recorder: StepRecorder
  /** Gets the route. */
  readonly found: Found
  /** Whether a proxy asks, which forwards the request itself. */
  readonly isForProxy: boolean
}

/** Explains a request to a route, from the gate to what the upstream would get. @throws GatehouseError if refused */
async function explainRoute(
  arrival: ExplainedArrival,
  { config, table, ownPaths, gateOptions, steps, recorder, found, isForProxy }: RouteContext,
): Promise<'forward' | 'no-content'> {
  const gate = createGate<FoundRoute, ExplainedArrival>({
    ...gateOptions,
    findRoute: (came) => {
      const result = isForProxy ? findRoute(table, came) : findForwardingRoute(table, came)
      if (!(result instanceof GatehouseError)) found.route = result
      return result
    },
    steps,
  })
  const route = await gate(arrival)
  if (route instanceof GatehouseError) throw route
  const { publicOrigin } = config
  const checkSecondTargets = createSecondTargetCheck({ ...gateOptions, table, ownPaths, publicOrigin })
  const named = arrival.fields.uncommon.secondTargets
  const secondTargets = named === undefined ? undefined : await checkSecondTargets(route, arrival)
  if (secondTargets instanceof GatehouseError) throw secondTargets
  recorder.pass('destination', secondTargets && describeSecondTargets(secondTargets))
  if (isForProxy) {
    steps.passed('limits')
    recorder.pass('upstream', describeDecision(config, route, arrival))
    return 'forward'
  }
  if (!hasUpstream(route)) throw new Error('a forwarding route without an upstream')
  const tracer = config.tracing && createTracer(config.tracing.sampleRatio)
  const input = createHeadPreparation({ tracer, steps })(route, arrival)
  if (input === undefined) {
    recorder.pass('upstream', describeMethods([...(route.methods ?? standardMethods)].toSorted()))
    return 'no-content'
  }
  recorder.pass('upstream', describeUpstream(config, { route, arrival, input, secondTargets }))
  return 'forward'
}

interface DescribedBy {
  readonly request: ExplainedRequest
  readonly config: Config
  readonly cors: Cors | undefined
  readonly table: RouteTable<UpstreamConfig | undefined>
  readonly found: Found
}

type Describers = Readonly<Record<DecisionStep, () => StepResult | undefined>>

/** What each step has found, from what it wrote to the outcome. */
function describersOf(
  arrival: ExplainedArrival,
  { request, config, cors, table, found }: DescribedBy,
): Describers {
  const { outcome } = arrival
  return {
    request: () => describeRequest(arrival, request.peer),
    cors: () => describeCors(arrival, cors),
    route: () => found.route && describeRoute(found.route, table, arrival),
    scheme: () => describeScheme(arrival, accessOf(arrival), config.keys.accept),
    principal: () => describePrincipal(principalOf(outcome), boundsOf(outcome)),
    policy: () => describePolicy(accessOf(arrival)),
    limits: () => found.route && describeLimits(found.route, arrival, config.plans),
  }
}

function boundsOf({ decision }: Outcome): CredentialBounds {
  if (decision?.kind !== 'allowed' || !decision.principal) return {}
  const { holdsUntil, confirmation } = decision
  const isLimited = Number.isFinite(holdsUntil) && holdsUntil > 0
  return { ...(isLimited && { validUntil: holdsUntil }), ...confirmation }
}

function accessOf({ outcome: { access } }: ExplainedArrival): Access {
  if (!access) throw new Error('a step before the route')
  return access
}
