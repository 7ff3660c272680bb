import type { SendNotice } from '#accounts/mails/notices.ts'
import { buildApi } from '#api/api.ts'
import { createCors } from '#gateway/arrival/cors.ts'
import { createFieldReader } from '#gateway/arrival/request-fields.ts'
import { createCookieRenewal } from '#gateway/browser/cookie-renewal.ts'
import { createReturnPathCheck } from '#gateway/browser/sign-in-return.ts'
import type { HeldBodies } from '#gateway/forward/held-bodies.ts'
import { createStickyCookies } from '#gateway/forward/own-cookies.ts'
import { createSecondTargetCheck } from '#gateway/gate/second-targets.ts'
import { createIgnoredUpgradeLog } from '#gateway/gate/upgrades.ts'
import { createFastLane } from '#gateway/lane/fast-lane.ts'
import { compileRoutes } from '#gateway/routes/compile.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { createRouteTable } from '#gateway/routes/table.ts'
import { createDecideArrivalReader } from '#gateway/server/decide-arrival.ts'
import { createDecide, createDecisionWriter, type DecideTraffic } from '#gateway/server/decide-server.ts'
import { createObserver } from '#gateway/server/observe.ts'
import type { OpenCallers } from '#gateway/server/open-callers.ts'
import { createProxy } from '#gateway/server/proxy.ts'
import type { RedirectTraffic } from '#gateway/server/redirect-server.ts'
import type { Traffic } from '#gateway/server/server.ts'
import { createTraceRecorder } from '#gateway/server/trace-recorder.ts'
import { createUsageMeter } from '#gateway/server/usage-meter.ts'
import type { Upstreams } from '#http/upstream/upstream.ts'
import { createCarriers } from '#identity/carriers.ts'
import { createQuotaCharge } from '#identity/limits/plans.ts'
import type { Exporter } from '#ops/tracing/exporter.ts'
import { createTracer } from '#ops/tracing/tracer.ts'
import { createAddressSet } from '#platform/addresses.ts'
import { monotonicClock } from '#platform/time.ts'
import { createNoticesFrom, portalUrlOf } from './account-services.ts'
import { type ApiPartsOptions, createApiOptions } from './api-options.ts'
import {
  createAssertionHeader,
  createBrowserParts,
  createForwardParts,
  ownHeaderNames,
  stickyUpstreams,
} from './forward-parts.ts'
import { createGateParts } from './gate-parts.ts'

export interface TrafficOptions
  extends Omit<ApiPartsOptions, 'checks' | 'isReturnPath'>,
    Pick<OpenCallers, 'followTunnel'> {
  readonly upstreams: Upstreams
  /** Called for a gRPC call that is forwarded. */
  onGrpcCall(): void
  readonly heldBodies: HeldBodies
  /** A peer that is not a trusted proxy asks for decisions. */
  onUntrustedProxy(peerAddress: string): void
  /** Sends the spans; undefined = nothing is traced. */
  readonly exporter: Exporter | undefined
}

/** What the listeners share under one config. */
export interface WorkerTraffic extends Traffic {
  /** undefined = there is no listener for other proxies. */
  readonly decide: DecideTraffic | undefined
  /** undefined = plain HTTP is not redirected. */
  readonly redirect: RedirectTraffic | undefined
  /** Tells people by mail what happened to their account; undefined = no mail is sent. */
  readonly sendNotice: SendNotice | undefined
}

export async function buildTraffic(options: TrafficOptions): Promise<WorkerTraffic> {
  const { config, callerAuth, upstreams, metrics, log, exporter } = options
  const { publicOrigin, accessCookie, identityHeaders, plans } = config
  const tracer = config.tracing && createTracer(config.tracing.sampleRatio)
  const carriers = createCarriers(config.keys.accept)
  const table = createRouteTable(compileRoutes(config.routes, upstreams, carriers, publicOrigin))
  const ownPaths = createOwnPaths(config.portal, config.routes, config)
  const { readAccessCookie, redirectToSignIn } = createBrowserParts(config)
  const assertion = createAssertionHeader(options, callerAuth)
  const { writer, writeIdentity, ownCookies } = createForwardParts(config, carriers, assertion)
  const gateParts = {
    ...createGateParts(options, callerAuth),
    readAccessCookie,
    table,
    ownPaths,
    publicOrigin,
  }
  /** What the proxy, the fast lane and the decisions for other proxies have in common. */
  const shared = {
    ...gateParts,
    carriers,
    trusted: createAddressSet(config.trustedProxies),
    cors: createCors({ ...config.cors, table, ownPaths }),
    checkSecondTargets: createSecondTargetCheck(gateParts),
    ownCookies,
    redirectToSignIn,
    usageMeter: createUsageMeter(options.usageRecorder, createQuotaCharge({ plans, quotas: options.quotas })),
    tracer,
  }
  const proxy = createProxy({
    ...options,
    ...shared,
    stickyCookies: createStickyCookies(stickyUpstreams(config), config.cookie),
    renewAccessCookie: accessCookie.enabled
      ? createCookieRenewal({ ...callerAuth, cookie: accessCookie, publicOrigin })
      : undefined,
    onIgnoredUpgrade: createIgnoredUpgradeLog(log, monotonicClock),
    portalScopes: ownPaths.portalScopes,
    portalLink: portalLinkOf(config),
    writer,
  })
  const { trusted, cors } = shared
  const reader = { trusted, fieldReader: createFieldReader(carriers, writer.names) }
  const observerOptions = {
    metrics,
    log,
    logsAccess: config.log.access,
    routeCount: table.routes.length,
    recordTrace: tracer && exporter && createTraceRecorder({ tracer, exporter, routes: table.routes }),
  }
  const isReturnPath = redirectToSignIn && createReturnPathCheck(table, ownPaths)
  return {
    ...reader,
    observer: createObserver(observerOptions),
    ownPaths,
    sendNotice: createNoticesFrom(options),
    api: await buildApi({
      ...createApiOptions({ ...options, checks: gateParts, isReturnPath }),
      issuers: config.issuers,
      protectedResources: config,
      securityTxt: config.securityTxt,
    }),
    proxy,
    fastLane:
      assertion || tracer
        ? undefined
        : createFastLane({
            ...shared,
            names: writer.names,
            writeIdentity,
            forwarding: proxy.forwarding,
          }),
    names: writer.names,
    cors,
    redirect: config.listen.redirect && {
      ...reader,
      publicOrigin,
      observer: createObserver({ ...observerOptions, listener: 'redirect' }),
    },
    decide: config.decide && {
      trusted,
      observer: createObserver({ ...observerOptions, listener: 'decide' }),
      read: createDecideArrivalReader({
        ...reader,
        identityNames: ownHeaderNames(config),
        onUntrusted: options.onUntrustedProxy,
      }),
      decide: createDecide({ ...shared, writeDecision: createDecisionWriter(identityHeaders, assertion) }),
    },
  }
}

/** The link to the portal on pages of the gateway: a path, or a URL if the portal has a host of its own. */
function portalLinkOf(config: TrafficOptions['config']): string | undefined {
  const { enabled, host, path } = config.portal
  if (!enabled) return undefined
  return host === undefined ? path : portalUrlOf(config)
}
