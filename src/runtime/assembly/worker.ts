import type { Config } from '#config/config.ts'
import { createOpenCalls } from '#gateway/gate/open-calls.ts'
import { createWebSockets } from '#gateway/server/web-sockets.ts'
import type { WorkerMemory } from '#identity/cache/instance-memory.ts'
import type { StoreHealth } from '#identity/cache/store-connection.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log/log.ts'
import type { StoreState } from '#store/diagnostics.ts'
import type { InstanceCounts } from '#store/rates.ts'
import { keepTickShape } from '../v8/keep-tick-shape.ts'
import type { CallerAuth, CallerAuthOptions } from './caller-auth.ts'
import type { PreparedConfig } from './request-server.ts'
import { openStoreMonitor } from './store-monitor.ts'
import { openStoreServices } from './store-services.ts'
import { targetStates } from './upstreams.ts'
import { createWorkerListeners } from './worker-listeners.ts'
import { createSharedStore, createWorkerPartsBuilder } from './worker-parts.ts'

/** The part of the gateway that serves requests, in this process. */
export interface Worker {
  readonly url: string
  /** Where other proxies ask; undefined = nowhere. */
  readonly decideUrl: string | undefined
  health(): StoreHealth
  /** The state that the store reports. */
  storeState(): StoreState
  /** When the change log was last read, on the clock of performance.now(); -Infinity = never. */
  lastReadAt(): number
  /** See RequestServer. */
  prepare(next: Config): Promise<PreparedConfig>
  drain(timeoutMs: number): Promise<boolean>
  close(): Promise<void>
}

export interface WorkerOptions {
  readonly config: Config
  readonly log: Log
  readonly metrics: Metrics
  readonly clock: Clock
  /** Counts that the workers of this instance share; undefined = this is the only worker. */
  readonly counts?: InstanceCounts | undefined
  /** The memory that the workers of this instance share; undefined = this is the only worker. */
  readonly memory?: WorkerMemory | undefined
  /** Fetches keys of issuers for the workers of this instance; undefined = this is the only worker. */
  readonly keySetFetches?: CallerAuthOptions['keySetFetches']
  /** Encrypts the TLS session tickets of all workers of this instance; undefined = this is the only worker. */
  readonly ticketKeys?: Buffer | undefined
}

/**
 * Builds everything from the config and starts to listen.
 * @throws OperatorError if a key, the database or the address is not available
 */
export async function openWorker(options: WorkerOptions): Promise<Worker> {
  const { config, log, metrics, clock, counts } = options
  keepTickShape()
  let currentCallerAuth: CallerAuth | undefined
  const services = await openStoreServices({
    config,
    log,
    metrics,
    clock,
    counts,
    isStoreUp: () => currentCallerAuth?.storeConnection.isUp === true,
  })
  const { store, storeConnection } = services
  const webSockets = createWebSockets({ metrics, clock, authState: () => current.callerAuth })
  const openCalls = createOpenCalls({
    followStream: webSockets.followStream,
    openArrivals: () => listeners.openArrivals(),
  })
  let ownUrl = ''
  const build = createWorkerPartsBuilder({
    ...services,
    store: createSharedStore(store),
    memory: options.memory,
    keySetFetches: options.keySetFetches,
    metrics,
    log,
    clock,
    gatewayUrl: () => ownUrl,
    onUpgraded: webSockets.accept,
    followStream: webSockets.followStream,
    openCalls,
    onUntrustedProxy: createUntrustedProxyLogger(log),
    onChange: (change, callerAuth) => {
      if (callerAuth === currentCallerAuth) webSockets.revalidate(change)
    },
  })

  let current = await cleanUpOnFailure(services.close, () => build(config))
  currentCallerAuth = current.callerAuth
  store.onAudit((entry) => current.traffic.sendNotice?.(entry))
  metrics.collectTargetHealth(() => targetStates(current.upstreams))
  metrics.collectIssuers(() => current.callerAuth.issuers.states())
  const storeMonitor = openStoreMonitor({ store, storeConnection, log, metrics })
  const listeners = await cleanUpOnFailure(close, () =>
    createWorkerListeners({
      config,
      ticketKeys: options.ticketKeys,
      traffic: () => current.traffic,
      metrics,
      log,
    }),
  )

  async function prepare(next: Config): Promise<PreparedConfig> {
    const useSealingKeys = services.rereadSealingKeys(next.keys.sealingKey)
    const built = await build(next, current)
    const discard = () => built.closeUnshared(current)
    return {
      commit: () => {
        // First, since nothing after this can fail: if it fails, the old config stays active as a whole.
        try {
          listeners.reconfigure(next)
        } catch (error) {
          discard()
          throw error
        }
        useSealingKeys()
        const before = current
        current = built
        currentCallerAuth = built.callerAuth
        log.level = next.log.level
        before.closeUnshared(built)
        // Keys in the config may have been removed, for which there is no change event.
        if (before.callerAuth !== built.callerAuth) webSockets.revalidate(undefined)
      },
      discard,
    }
  }

  /** While the store rejects writes, callers are authenticated, but no tokens are issued or refreshed. */
  function health(): StoreHealth {
    const known = current.callerAuth.health()
    return known === 'ok' && storeMonitor.state().writesRefused !== null ? 'degraded' : known
  }

  async function close(): Promise<void> {
    const { exporter } = current
    storeMonitor.close()
    current.closeUnshared(undefined)
    await exporter?.close()
    await services.close()
  }

  const { url, decideUrl } = await cleanUpOnFailure(close, listeners.listen)
  ownUrl = url
  return {
    url,
    decideUrl,
    health,
    storeState: storeMonitor.state,
    lastReadAt: () => current.callerAuth.storeConnection.readAt,
    prepare,
    drain: (timeoutMs) => {
      webSockets.closeAll(1001, 'the gateway is shutting down')
      return listeners.drain(timeoutMs)
    },
    close,
  }
}

/** Logs the first peer that asks for decisions without being trusted: each of its requests has a line of its own. */
function createUntrustedProxyLogger(log: Log): (peerAddress: string) => void {
  let isLogged = false
  return function onUntrustedProxy(peerAddress) {
    if (isLogged) return
    isLogged = true
    log.warn({ peer: peerAddress }, 'decisions refused: the peer is not in trustedProxies')
  }
}

/** Cleans up if the work fails. */
async function cleanUpOnFailure<Value>(
  cleanUp: () => Promise<void>,
  work: () => Value | Promise<Value>,
): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    await cleanUp()
    throw error
  }
}
