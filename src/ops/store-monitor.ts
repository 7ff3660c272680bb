import { GatehouseError, isStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import { everySecond } from '#platform/every-second.ts'
import type { Log } from '#platform/log/log.ts'
import { isStoreFailure, type StoreDiagnostics, type StoreState } from '#store/store-health.ts'
import type { Metrics } from './metrics/metrics.ts'

interface StoreMonitorOptions {
  readonly store: StoreDiagnostics
  readonly storeConnection: { readonly isUp: boolean }
  readonly log: Log
  readonly metrics: Pick<Metrics, 'storeWritable'>
}

interface StoreMonitor {
  state(): StoreState
  close(): void
}

/** How long a successful write proves that the store accepts writes; after that, an idle store is probed. */
const writeTrustMs = 5_000
/** How often the settings of the store are read. */
const risksMs = 60_000

/**
 * Monitors whether a reachable store also accepts writes: with a full disk, a lock, or a master that became a replica,
 * every refresh and reset fails while all callers are still authenticated, which nobody would notice. A failed write
 * triggers a test write, which decides.
 */
export function openStoreMonitor({
  store,
  storeConnection,
  log,
  metrics,
}: StoreMonitorOptions): StoreMonitor {
  let refusal: string | undefined
  let risks: readonly string[] = []
  let lastWriteAt = Number.NEGATIVE_INFINITY
  let risksReadAt = Number.NEGATIVE_INFINITY
  let isProbing = false
  let wasUncertain = false
  let isClosed = false

  function updateMetric(): void {
    metrics.storeWritable.set(Number(storeConnection.isUp && refusal === undefined))
  }

  function setRefusal(reason: string | undefined): void {
    if (isClosed) return
    const before = refusal
    refusal = reason
    updateMetric()
    if (before === undefined && reason !== undefined)
      log.error({ reason }, 'store rejects writes: tokens, sessions, accounts and keys cannot be changed')
    if (before !== undefined && reason === undefined) log.info('store accepts writes again')
  }

  async function probe(): Promise<void> {
    if (isProbing) return
    isProbing = true
    try {
      await store.probeWrite()
      lastWriteAt = performance.now()
      wasUncertain = false
      setRefusal(undefined)
    } catch (error) {
      if (isRefusal(error)) setRefusal(refusalReason(error))
    } finally {
      isProbing = false
    }
  }

  /** A store that is unreachable or has lost its data is reported separately. */
  function isRefusal(error: unknown): boolean {
    if (!storeConnection.isUp || isStoreFailure(error, 'lost', 'unreachable')) return false
    // One response may be late on a busy machine; a write that Redis blocks, or that no replica confirms, fails again.
    const isRepeated = wasUncertain
    wasUncertain = isStoreFailure(error, 'unanswered', 'unconfirmed')
    return !wasUncertain || isRepeated
  }

  async function readRisks(): Promise<void> {
    risksReadAt = performance.now()
    const found = await store.findRisks().catch(() => undefined)
    if (found === undefined) {
      risksReadAt = Number.NEGATIVE_INFINITY
      return
    }
    for (const risk of found) if (!risks.includes(risk)) log.warn({ option: 'store' }, risk)
    risks = found
  }

  function tick(): void {
    updateMetric()
    if (!storeConnection.isUp) {
      // It may be another server once it is reachable again.
      risksReadAt = Number.NEGATIVE_INFINITY
      lastWriteAt = Number.NEGATIVE_INFINITY
      return
    }
    const now = performance.now()
    if (refusal !== undefined || now - lastWriteAt >= writeTrustMs) void probe()
    if (now - risksReadAt >= risksMs) void readRisks()
  }

  store.onWrite((isAccepted) => {
    if (isAccepted) lastWriteAt = performance.now()
    else if (storeConnection.isUp && refusal === undefined) void probe()
  })
  const stop = everySecond(tick)
  tick()

  return {
    state: () => ({ writesRefused: (storeConnection.isUp ? refusal : undefined) ?? null, risks }),
    close: () => {
      isClosed = true
      stop()
    },
  }
}

/** The message of the store, as the code adds nothing. */
function refusalReason(error: unknown): string {
  return errorMessage(error instanceof GatehouseError ? (error.cause ?? error) : error)
}

/** The combined state of all workers. */
export function mergeStoreStates(states: readonly StoreState[]): StoreState {
  return {
    writesRefused: states.find(({ writesRefused }) => writesRefused !== null)?.writesRefused ?? null,
    risks: [...new Set(states.flatMap(({ risks }) => risks))],
  }
}

/**
 * Logs each change once: the store is unreachable, has come back without its data or with data of a newer program, or
 * is reachable again.
 */
export function createConnectionLogger(log: Log, metrics: Metrics): (error: unknown) => void {
  let wasUp: boolean | undefined
  let wasLost = false
  return (err) => {
    const loss = isStoreFailure(err, 'lost', 'newer') ? err.cause.message : undefined
    const isUp = err === undefined
    metrics.storeUp.set(Number(isUp))
    if (isUp && wasUp === false) log.info('store reachable again')
    if (loss !== undefined && !wasLost) log.error({ err }, loss)
    else if (!isUp && wasUp !== false) log.error({ err }, 'store unreachable')
    wasUp = isUp
    // A loss is reported once, even if the store was unreachable in between.
    wasLost = loss !== undefined || (wasLost && !isUp)
  }
}

/** Logs each fault once, until the change log has been read without it, as every poll repeats it. */
export function createFaultLogger(
  log: Log,
  message = 'cannot apply a change from the store',
): (error: unknown) => void {
  let reported: string | undefined
  return (err) => {
    const reason = err === undefined ? undefined : errorMessage(err)
    if (reason !== undefined && reason !== reported) log.error({ err }, message)
    reported = reason
  }
}

/** Logs faults of work in the background, except for outages of the store, which are logged by themselves. */
export function createWorkFaultLogger(log: Log, message: string): (error: unknown) => void {
  const logFault = createFaultLogger(log, message)
  return (error) => {
    if (!isStoreUnavailable(error)) logFault(error)
  }
}
