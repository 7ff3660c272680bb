import { knownRoles } from '../accounts/account-input.ts'
import type { KeyUses } from '../accounts/key-uses.ts'
import type { UsageRecorder } from '../accounts/usage-recorder.ts'
import { createCarriers } from '../auth/carriers.ts'
import { createPlans } from '../auth/plans.ts'
import type { Quotas } from '../auth/quotas.ts'
import type { RateLimiter } from '../auth/rate-limiter.ts'
import { createLru } from '../cache/lru.ts'
import type { Config } from '../config/config.ts'
import { buildApi } from '../endpoints/api.ts'
import { createCors } from '../http/cors.ts'
import { createObserver } from '../http/observe.ts'
import { createProxy } from '../http/proxy.ts'
import { createFieldReader } from '../http/request-fields.ts'
import type { Traffic } from '../http/server.ts'
import { createTraceRecorder } from '../http/trace-recorder.ts'
import type { UpgradeHandler } from '../http/upgrade.ts'
import { createUsageMeter } from '../http/usage-meter.ts'
import type { Log } from '../log/log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { createAddressSet } from '../platform/address-ranges.ts'
import type { Clock } from '../platform/clock.ts'
import { readVersion } from '../platform/version.ts'
import { createPortal } from '../portal/portal.ts'
import { createPortalCookie } from '../portal/portal-cookie.ts'
import { createHeaderRules } from '../proxy/header-rules.ts'
import { type AssertionHeader, createIdentityWriter } from '../proxy/identity-headers.ts'
import { createRequestWriter } from '../proxy/request-head.ts'
import { compileRoutes } from '../routes/compile.ts'
import { createOwnPaths } from '../routes/own-paths.ts'
import { createRouteTable } from '../routes/table.ts'
import type { Store } from '../store/store.ts'
import { type CachedAssertion, createAssertions } from '../tokens/assertion.ts'
import type { Exporter } from '../tracing/exporter.ts'
import { createTracer } from '../tracing/tracer.ts'
import { type AccountServices, createAccountServices, createConfiguredHeldKeys } from './account-services.ts'
import type { CallerAuth } from './caller-auth.ts'
import type { OpenUpstreams } from './upstreams.ts'

export interface TrafficOptions {
  readonly config: Config
  readonly callerAuth: CallerAuth
  readonly upstreams: OpenUpstreams
  readonly store: Store
  readonly sealingKey: Buffer
  readonly keyUses: KeyUses
  readonly usageRecorder: UsageRecorder
  readonly clock: Clock
  /** The URL at which this machine reaches this gateway, once it listens. */
  gatewayUrl(): string
  readonly limiter: RateLimiter
  readonly quotas: Quotas
  readonly metrics: Metrics
  readonly log: Log
  readonly onUpgraded: UpgradeHandler
  /** Sends the spans; undefined = nothing is traced. */
  readonly exporter: Exporter | undefined
}

/** Maximum number of cached assertions, half a KiB each; beyond that some are signed more often. */
const assertionsMax = 10_000

export async function buildTraffic(options: TrafficOptions): Promise<Traffic> {
  const { config, callerAuth, upstreams, limiter, metrics, log, keyUses, onUpgraded, exporter } = options
  const tracer = config.tracing && createTracer(config.tracing.sampleRatio)
  const carriers = createCarriers(config.keys.accept)
  const table = createRouteTable(compileRoutes(config.routes, upstreams.byName))
  const proxy = createProxy({
    table,
    authenticator: callerAuth.authenticator,
    limiter,
    takePlan: createPlans({
      plans: config.plans,
      limiter,
      quotas: options.quotas,
      onUnknown: (plan) => log.warn({ plan }, 'accounts have a plan that is not in the config: not limited'),
      unknownPlanRequests: metrics.unknownPlanRequests,
    }),
    failures: config.failures,
    metrics,
    keyUses,
    onUpgraded,
    usageMeter: createUsageMeter(options.usageRecorder),
    portalPath: config.portal.enabled ? config.portal.path : undefined,
    tracer,
    writer: createRequestWriter({
      rules: createHeaderRules([...Object.values(config.identityHeaders), config.assertion.header], carriers),
      writeIdentity: createIdentityWriter(config.identityHeaders),
      assertion: createAssertionHeader(options),
      refreshCookie: config.cookie.name,
    }),
  })
  const ownPaths = createOwnPaths(config.portal)
  return {
    trusted: createAddressSet(config.trustedProxies),
    fieldReader: createFieldReader(carriers),
    observer: createObserver({
      metrics,
      log,
      logsAccess: config.log.access,
      recordTrace: tracer && exporter && createTraceRecorder(tracer, exporter),
    }),
    ownPaths,
    api: await buildGatewayApi(options),
    proxy,
    cors: createCors({ origins: config.cors.origins, table, ownPaths }),
  }
}

function createAssertionHeader({ config, callerAuth, clock }: TrafficOptions): AssertionHeader | undefined {
  const { enabled, header, lifetimeMs } = config.assertion
  if (!enabled) return undefined
  const assertionCache = createLru<CachedAssertion>(assertionsMax)
  const { issuer } = config.tokens
  return {
    header,
    of: createAssertions({ keyring: callerAuth.keyring, cache: assertionCache, issuer, lifetimeMs, clock })
      .issue,
  }
}

/** The endpoints of the gateway itself, and the portal if there is one. */
function buildGatewayApi(options: TrafficOptions) {
  const { config, callerAuth, limiter, metrics, keyUses } = options
  const { enabled } = config.portal
  const accountServices = createAccountServices(options)
  return buildApi({
    sessions: callerAuth.sessions,
    keyring: callerAuth.keyring,
    limiter,
    metrics,
    failures: config.failures,
    cookie: config.cookie,
    publicOrigin: config.publicOrigin,
    requestTimeoutMs: config.listen.requestTimeoutMs,
    version: readVersion(),
    admin: {
      actionsOf: accountServices.actionsOf,
      authenticator: callerAuth.authenticator,
      keyUses,
      hasPortal: enabled,
      clock: options.clock,
    },
    heldKeys: createConfiguredHeldKeys({ ...options, actionsOf: accountServices.actionsOf }),
    accept: config.keys.accept,
    portal: enabled ? createPortal(portalOptions(accountServices, options)) : undefined,
  })
}

function portalOptions(
  accountServices: AccountServices,
  { config, limiter, clock, gatewayUrl }: TrafficOptions,
) {
  const { publicOrigin, portal, routes, identityHeaders, keys, plans } = config
  const cookie = createPortalCookie({ path: portal.path, isSecure: publicOrigin.startsWith('https:') })
  return {
    ...accountServices,
    limiter,
    path: portal.path,
    publicOrigin,
    routes,
    identityHeaders,
    carriers: createCarriers(keys.accept),
    roles: knownRoles(routes),
    plans: Object.keys(plans),
    cookie,
    clock,
    gatewayUrl,
  }
}
