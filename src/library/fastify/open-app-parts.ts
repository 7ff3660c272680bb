import type { FastifyBaseLogger } from 'fastify'
import type { ApiOptions } from '#api/api.ts'
import type { Config } from '#config/config.ts'
import { type ArrivalReader, credentialsOf, type GatedArrival } from '#gateway/arrival/arrival.ts'
import { createFieldReader } from '#gateway/arrival/request-fields.ts'
import type { RequestWriter } from '#gateway/forward/upstream-head.ts'
import type { GateOptions } from '#gateway/gate/gate.ts'
import type { CheckPossession } from '#gateway/gate/possession.ts'
import type { GatedRoute } from '#gateway/routes/route.ts'
import { createOpenCallers, type OpenCallers } from '#gateway/server/open-callers.ts'
import { createUsageMeter, type UsageMeter } from '#gateway/server/usage-meter.ts'
import { createCarriers } from '#identity/carriers.ts'
import { isCredential } from '#identity/credentials.ts'
import { type Metrics, openMetrics } from '#ops/metrics/metrics.ts'
import { openStoreMonitor } from '#ops/store-monitor.ts'
import { createAddressSet } from '#platform/addresses.ts'
import { isRecord } from '#platform/json.ts'
import { createLog, type Log } from '#platform/log/log.ts'
import { readVersion } from '#platform/package.ts'
import type { Clock } from '#platform/time.ts'
import { createNoticesFrom } from '#runtime/assembly/account-services.ts'
import { createApiOptions } from '#runtime/assembly/api-options.ts'
import { type CallerAuth, openCallerAuth } from '#runtime/assembly/caller-auth.ts'
import { createAssertionHeader, createForwardParts } from '#runtime/assembly/forward-parts.ts'
import { createGateParts } from '#runtime/assembly/gate-parts.ts'
import { openStoreParts } from '#runtime/assembly/store-parts.ts'
import type { StoreHealth } from '#store/store-health.ts'
import type { AppArrival } from './app-arrival.ts'

/** The parts of the gateway that work within an app, on a store of their own. */
export interface AppParts {
  readonly reader: ArrivalReader
  readonly gate: Omit<GateOptions<GatedRoute, AppArrival>, 'findRoute'>
  readonly api: ApiOptions
  readonly writer: RequestWriter
  readonly usageMeter: UsageMeter
  readonly openCallers: OpenCallers
  readonly metrics: Metrics
  health(): StoreHealth
  /** Writes what is pending, and closes the store. */
  close(): Promise<void>
}

interface AppPartsOptions {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
}

/** @throws OperatorError if a key or the database is not available; without Redis it opens, and waits for it */
export async function openAppParts({ config, log, clock }: AppPartsOptions): Promise<AppParts> {
  const metrics = openMetrics({ version: readVersion() })
  let opened: CallerAuth | undefined
  const isStoreUp = () => opened?.storeConnection.isUp === true
  const storeParts = await openStoreParts(config, { log, metrics, clock }, isStoreUp).catch(
    (error: unknown) => {
      metrics.close()
      throw error
    },
  )
  const parts = { ...storeParts, config }
  const callerAuth = await openCallerAuth(parts).catch(async (error: unknown) => {
    await parts.close()
    metrics.close()
    throw error
  })
  opened = callerAuth
  const openCallers = createOpenCallers({ metrics, clock, authState: () => callerAuth })
  callerAuth.onChange(openCallers.revalidate)
  const sendNotice = createNoticesFrom(parts)
  if (sendNotice) parts.store.onAudit(sendNotice)
  const monitor = openStoreMonitor(parts)
  const carriers = createCarriers(config.keys.accept)
  const gateParts = createGateParts(parts, callerAuth)
  const gate = { ...gateParts, checkPossession: checkingOnce(gateParts.checkPossession) }

  return {
    reader: { trusted: createAddressSet(config.trustedProxies), fieldReader: createFieldReader(carriers) },
    gate,
    api: createApiOptions(parts, { callerAuth, gate, openCallers, gatewayUrl: () => '' }),
    writer: createForwardParts(config, carriers, createAssertionHeader(parts, callerAuth)).writer,
    usageMeter: createUsageMeter(parts.usageRecorder),
    openCallers,
    metrics,
    health: callerAuth.health,
    close: async () => {
      openCallers.closeTunnels(1001, 'the server is shutting down')
      monitor.close()
      callerAuth.close()
      await parts.close()
      metrics.close()
    },
  }
}

/**
 * Several hooks may decide about one request, and each must know that the possession of a key was proven; but a proof
 * is accepted only once. So its result is kept, for hooks that ask for the same proof.
 */
function checkingOnce(checkPossession: CheckPossession): CheckPossession {
  const checked = new WeakMap<
    GatedArrival,
    { readonly asked: string; readonly result: ReturnType<CheckPossession> }
  >()
  return (arrival, decision) => {
    const credentials = credentialsOf(arrival)
    const { jkt, certificate } = decision.confirmation ?? {}
    const asked = JSON.stringify([isCredential(credentials) ? credentials.text : '', jkt, certificate])
    const known = checked.get(arrival)
    // Another token, or another key, needs its own proof.
    if (known?.asked === asked) return known.result
    const result = checkPossession(arrival, decision)
    checked.set(arrival, { asked, result })
    return result
  }
}

const levels = ['debug', 'info', 'warn', 'error'] as const

/** A log that writes to the app's logger, with its members; secrets and drivers' commands are removed first. */
export function createAppLog(appLog: FastifyBaseLogger): Log {
  return createLog({
    level: 'debug',
    stream: {
      write: (line) => {
        const parsed: unknown = JSON.parse(line)
        if (!isRecord(parsed)) return
        // The app's logger writes its own time.
        const { level, time: _, msg, ...members } = parsed
        const known = levels.find((name) => name === level) ?? 'info'
        appLog[known](members, String(msg ?? ''))
      },
    },
  })
}
