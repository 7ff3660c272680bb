import type { SendNotice } from '#accounts/mails/notices.ts'
import { buildApi } from '#api/api.ts'
import { createCors } from '#gateway/arrival/cors.ts'
import type { Outcome } from '#gateway/arrival/outcome.ts'
import { createFieldReader } from '#gateway/arrival/request-fields.ts'
import { createCookieRenewal } from '#gateway/browser/cookie-renewal.ts'
import { createReturnPathCheck } from '#gateway/browser/sign-in-return.ts'
import type { HeldBodies } from '#gateway/forward/held-bodies.ts'
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
import { createNoticesFrom } from './account-services.ts'
import { createApiOptions } from './api-options.ts'
import type { CallerAuth } from './caller-auth.ts'
import {
  createAssertionHeader,
  createBrowserParts,
  createForwardParts,
  ownHeaderNames,
} from './forward-parts.ts'
import { createGateParts } from './gate-parts.ts'
import type { ConfigParts } from './store-parts.ts'

/** What a worker keeps through reloads, besides the parts of its store. */
export interface KeptParts {
  readonly openCallers: OpenCallers
  /** See createGrpcCallFollower. */
  onGrpcCall(outcome: Outcome): void
  readonly heldBodies: HeldBodies
  /** The URL at which this machine reaches this gateway, once it listens. */
  gatewayUrl(): string
  /** A peer that is not a trusted proxy asks for decisions. */
  onUntrustedProxy(peerAddress: string): void
}

/** The parts of a config that the next one keeps where their options are the same. */
export interface ReusedParts {
  readonly callerAuth: CallerAuth
  readonly upstreams: Upstreams
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

export async function buildTraffic(
  parts: ConfigParts,
  kept: KeptParts,
  { callerAuth, upstreams, exporter }: ReusedParts,
): Promise<WorkerTraffic> {
  const { config, metrics, log, quotas } = parts
  const { publicOrigin, accessCookie, identityHeaders, plans, portal } = config
  const { openCallers, onGrpcCall, heldBodies } = kept
  const { accessTokens, directory } = callerAuth
  const tracer = config.tracing && createTracer(config.tracing.sampleRatio)
  const carriers = createCarriers(config.keys.accept)
  const trusted = createAddressSet(config.trustedProxies)
  const table = createRouteTable(compileRoutes(config.routes, upstreams, carriers, publicOrigin))
  const ownPaths = createOwnPaths(portal, config.routes, config)
  const cors = createCors({ ...config.cors, table, ownPaths })
  const { readAccessCookie, redirectToSignIn } = createBrowserParts(config)
  const assertion = createAssertionHeader(parts, callerAuth)
  const { writer, writeIdentity, ownCookies, stickyCookies } = createForwardParts(config, carriers, assertion)
  const gate = { ...createGateParts(parts, callerAuth), readAccessCookie }
  const checkSecondTargets = createSecondTargetCheck({ ...gate, table, ownPaths, publicOrigin })
  const usageMeter = createUsageMeter(parts.usageRecorder, createQuotaCharge({ plans, quotas }))
  const proxy = createProxy({
    gate,
    table,
    checkSecondTargets,
    tracer,
    writer,
    terms: {
      writeTrailers: writer.writeTrailers,
      ownCookies,
      stickyCookies,
      portalScopes: ownPaths.portalScopes,
    },
    usageMeter,
    openCallers,
    onGrpcCall,
    heldBodies,
    redirectToSignIn,
    renewAccessCookie: accessCookie.enabled
      ? createCookieRenewal({ accessTokens, directory, cookie: accessCookie, publicOrigin })
      : undefined,
    onIgnoredUpgrade: createIgnoredUpgradeLog(log, monotonicClock),
    // A path, or a URL if the portal has a host of its own.
    portalLink: portal.enabled ? (portal.host === undefined ? portal.path : portal.url) : undefined,
  })
  const { names } = writer
  const reader = { trusted, fieldReader: createFieldReader(carriers, names) }
  const observed = {
    metrics,
    log,
    logsAccess: config.log.access,
    routeCount: table.routes.length,
    recordTrace: tracer && exporter && createTraceRecorder({ tracer, exporter, routes: table.routes }),
  }
  const isReturnPath = redirectToSignIn && createReturnPathCheck(table, ownPaths)
  const { authenticator } = gate
  const { forwarding } = proxy
  return {
    ...reader,
    names,
    observer: createObserver(observed),
    cors,
    ownPaths,
    api: await buildApi({
      ...createApiOptions(parts, {
        callerAuth,
        gate,
        openCallers,
        gatewayUrl: kept.gatewayUrl,
        isReturnPath,
      }),
      issuers: config.issuers,
      protectedResources: config,
      securityTxt: config.securityTxt,
    }),
    proxy,
    fastLane:
      assertion || tracer
        ? undefined
        : createFastLane({
            names,
            carriers,
            trusted,
            cors,
            ownPaths,
            table,
            authenticator,
            ownCookies,
            writeIdentity,
            forwarding,
          }),
    redirect: config.listen.redirect && {
      ...reader,
      publicOrigin,
      observer: createObserver({ ...observed, listener: 'redirect' }),
    },
    decide: config.decide && {
      trusted,
      observer: createObserver({ ...observed, listener: 'decide' }),
      read: createDecideArrivalReader({
        ...reader,
        identityNames: ownHeaderNames(config),
        onUntrusted: kept.onUntrustedProxy,
      }),
      decide: createDecide({
        gate,
        table,
        cors,
        ownPaths,
        checkSecondTargets,
        tracer,
        usageMeter,
        redirectToSignIn,
        writeDecision: createDecisionWriter(identityHeaders, assertion),
      }),
    },
    sendNotice: createNoticesFrom(parts),
  }
}
