import type { UsageRecorder } from '../accounts/usage-recorder.ts'
import { createCarriers } from '../auth/carriers.ts'
import { buildApi } from '../endpoints/api.ts'
import { createCors } from '../http/cors.ts'
import { createObserver } from '../http/observe.ts'
import { createProxy } from '../http/proxy.ts'
import { createFieldReader } from '../http/request-fields.ts'
import type { Traffic } from '../http/server.ts'
import { createTraceRecorder } from '../http/trace-recorder.ts'
import type { UpgradeHandler } from '../http/upgrade.ts'
import { createUsageMeter } from '../http/usage-meter.ts'
import { createAddressSet } from '../platform/address-ranges.ts'
import { compileRoutes } from '../routes/compile.ts'
import { createOwnPaths } from '../routes/own-paths.ts'
import { createRouteTable } from '../routes/table.ts'
import type { Exporter } from '../tracing/exporter.ts'
import { createTracer } from '../tracing/tracer.ts'
import { type ApiPartsOptions, createApiOptions } from './api-options.ts'
import { createConfiguredWriter } from './request-writer.ts'
import { createTakePlan } from './take-plan.ts'
import type { OpenUpstreams } from './upstreams.ts'

export interface TrafficOptions extends ApiPartsOptions {
  readonly upstreams: OpenUpstreams
  readonly usageRecorder: UsageRecorder
  readonly onUpgraded: UpgradeHandler
  /** Sends the spans; undefined = nothing is traced. */
  readonly exporter: Exporter | undefined
}

export async function buildTraffic(options: TrafficOptions): Promise<Traffic> {
  const { config, callerAuth, upstreams, limiter, metrics, log, keyUses, onUpgraded, exporter } = options
  const tracer = config.tracing && createTracer(config.tracing.sampleRatio)
  const carriers = createCarriers(config.keys.accept)
  const table = createRouteTable(compileRoutes(config.routes, upstreams.byName))
  const proxy = createProxy({
    table,
    authenticator: callerAuth.authenticator,
    limiter,
    takePlan: createTakePlan(options),
    failures: config.failures,
    metrics,
    keyUses,
    onUpgraded,
    usageMeter: createUsageMeter(options.usageRecorder),
    portalPath: config.portal.enabled ? config.portal.path : undefined,
    tracer,
    writer: createConfiguredWriter(options, carriers),
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
    api: await buildApi(createApiOptions(options)),
    proxy,
    cors: createCors({ origins: config.cors.origins, table, ownPaths }),
  }
}
