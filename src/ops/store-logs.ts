import { isStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import type { Log } from '#platform/log/log.ts'
import { isStoreFailure } from '#store/store-health.ts'
import type { Metrics } from './metrics/metrics.ts'

/**
 * Logs each change once: the store is unreachable, has come back without its data or with data of a newer program, or
 * is reachable again.
 */
export function createConnectionLogger(
  log: Log,
  metrics: Pick<Metrics, 'storeUp'>,
): (error: unknown) => void {
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
