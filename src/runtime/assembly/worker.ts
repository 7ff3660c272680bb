import type { Config } from '#config/config.ts'
import { createHeldBodies } from '#gateway/forward/held-bodies.ts'
import { createOpenCallers } from '#gateway/server/open-callers.ts'
import { createGrpcCallFollower } from '#gateway/server/open-grpc-calls.ts'
import { openStoreMonitor } from '#ops/store-monitor.ts'
import { closeOnFailure } from '#platform/close-on-failure.ts'
import type { Log } from '#platform/log/log.ts'
import type { MonotonicMs } from '#platform/time.ts'
import type { StoreHealth, StoreState } from '#store/store-health.ts'
import type { PreparedConfig, RequestServer, WorkerUrls } from '../request-server.ts'
import { keepTickShape } from '../v8.ts'
import { openEvents } from './events.ts'
import { openStoreParts, type ProcessParts } from './store-parts.ts'
import type { KeptParts } from './traffic.ts'
import { createWorkerListeners } from './worker-listeners.ts'
import { buildWorkerParts, targetStates, type WorkerParts } from './worker-parts.ts'

/** A request server in this process. */
export interface Worker extends WorkerUrls, Pick<RequestServer, 'drain' | 'close'> {
  health(): StoreHealth
  /** The state that the store reports. */
  storeState(): StoreState
  /** When the change log was last read; -Infinity = never. */
  lastReadAt(): MonotonicMs
  /** See RequestServer. */
  prepare(nextConfig: Config): Promise<PreparedConfig>
}

interface WorkerOptions extends ProcessParts {
  readonly config: Config
  /** Encrypts the TLS session tickets of all workers of this instance; undefined = this is the only worker. */
  readonly ticketKeys?: Buffer | undefined
}

/**
 * Builds everything from the config and starts to listen.
 * @throws OperatorError if a key, the database or the address is not available
 */
export async function openWorker(options: WorkerOptions): Promise<Worker> {
  keepTickShape()
  return closeOnFailure((opened) => openParts(options, opened))
}

/** @param opened gets everything that has to be closed again; it is closed in reverse order */
async function openParts(options: WorkerOptions, opened: AsyncDisposableStack): Promise<Worker> {
  const { config, ticketKeys, ...processParts } = options
  const { log, metrics, clock } = processParts
  let built: WorkerParts | undefined
  const parts = await openStoreParts(
    config,
    processParts,
    () => built?.callerAuth.storeConnection.isUp === true,
    () => built?.config ?? config,
  )
  opened.defer(parts.close)
  const listeners = createWorkerListeners({ ...parts, config }, ticketKeys, () => current().traffic)
  const openCallers = createOpenCallers({ metrics, clock, authState: () => current().callerAuth })
  let ownUrl = ''
  const kept: KeptParts = {
    openCallers,
    onGrpcCall: createGrpcCallFollower({ ...openCallers, openArrivals: listeners.openArrivals }),
    heldBodies: createHeldBodies(),
    gatewayUrl: () => ownUrl,
    onUntrustedProxy: createUntrustedProxyLogger(log),
  }
  built = await buildWorkerParts({ ...parts, config }, kept)
  built.callerAuth.onChange(openCallers.revalidate)
  opened.defer(() => current().closeUnshared(undefined))
  parts.store.onAudit((entry) => current().traffic.sendNotice?.(entry))
  metrics.collectTargetHealth(() => targetStates(current().upstreams))
  metrics.collectIssuers(() => current().callerAuth.issuers.states())
  const storeMonitor = opened.adopt(openStoreMonitor(parts), (monitor) => monitor.close())
  const events = opened.adopt(openEvents(parts), (one) => one.close())

  function current(): WorkerParts {
    if (built === undefined) throw new Error('nothing is built yet')
    return built
  }

  async function prepare(nextConfig: Config): Promise<PreparedConfig> {
    const useSealingKeys = parts.rereadSealingKeys(nextConfig.keys.sealingKey)
    const nextParts = await buildWorkerParts({ ...parts, config: nextConfig }, kept, current())
    const discard = () => void nextParts.closeUnshared(current())
    return {
      commit: () => {
        // First, as nothing after this can fail: if it fails, the old config stays active as a whole.
        try {
          listeners.reconfigure(nextConfig)
        } catch (error) {
          discard()
          throw error
        }
        useSealingKeys()
        const before = current()
        built = nextParts
        log.level = nextConfig.log.level
        void events.use(nextConfig)
        void before.closeUnshared(nextParts)
        if (before.callerAuth === nextParts.callerAuth) return
        nextParts.callerAuth.onChange(openCallers.revalidate)
        // Keys in the config may have been removed, for which there is no change event.
        openCallers.revalidate(undefined)
      },
      discard,
    }
  }

  /** While the store rejects writes, callers are authenticated, but tokens are neither issued nor refreshed. */
  function health(): StoreHealth {
    const known = current().callerAuth.health()
    return known === 'ok' && storeMonitor.state().writesRefused !== null ? 'degraded' : known
  }

  await events.use(config)
  const urls = await listeners.listen()
  ownUrl = urls.url
  return {
    ...urls,
    health,
    storeState: storeMonitor.state,
    lastReadAt: () => current().callerAuth.storeConnection.readAt,
    prepare,
    drain: (timeoutMs) => {
      openCallers.closeTunnels(1001, 'the gateway is shutting down')
      current().callerAuth.revocationFeed?.close()
      return listeners.drain(timeoutMs)
    },
    close: () => opened.disposeAsync(),
  }
}

/** Logs the first untrusted peer that asks for decisions; each of its requests also has an access log line. */
function createUntrustedProxyLogger(log: Log): (peerAddress: string) => void {
  let isLogged = false
  return function onUntrustedProxy(peerAddress) {
    if (isLogged) return
    isLogged = true
    log.warn({ peer: peerAddress }, 'decisions refused: the peer is not in trustedProxies')
  }
}
