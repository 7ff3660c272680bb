import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
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

/** How long a successful write proves that the store accepts writes; after that, an idle store is probed. */
const writeTrustMs = 5_000
/** How often the settings of the store are read. */
const risksMs = 60_000

/**
 * Monitors whether a reachable store also accepts writes: with a full disk, a lock, or a master that became a replica,
 * every refresh and reset fails while all callers are still authenticated, which nobody would notice. A failed write
 * triggers a test write, which decides.
 */
export function openStoreMonitor({ store, storeConnection, log, metrics }: StoreMonitorOptions) {
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
      const kind = judge(error)
      if (kind === 'outage') return
      // One response may be late on a busy machine; a write that Redis blocks, or that no replica confirms, fails
      // again.
      if (kind === 'refusal' || wasUncertain) setRefusal(refusalReason(error))
      wasUncertain = kind === 'uncertain'
    } finally {
      isProbing = false
    }
  }

  /** What a failed test write says. An outage, or the loss of all data, is reported separately. */
  function judge(error: unknown): 'outage' | 'uncertain' | 'refusal' {
    if (!storeConnection.isUp || isStoreFailure(error, 'lost', 'unreachable')) return 'outage'
    return isStoreFailure(error, 'unanswered', 'unconfirmed') ? 'uncertain' : 'refusal'
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
    state: (): StoreState => ({ writesRefused: (storeConnection.isUp ? refusal : undefined) ?? null, risks }),
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
