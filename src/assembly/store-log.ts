import type { Log } from '../log/log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { errorMessage } from '../platform/system-error.ts'
import { isStoreFailure } from '../store/store-failure.ts'

/**
 * Logs once each that the store is unreachable, that it came back without its data or with that of a newer program,
 * and that it is reachable again.
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

/** Logs each fault once, until the change log has been read without it: while it lasts, every poll repeats it. */
export function createFaultLogger(log: Log): (error: unknown) => void {
  let reported: string | undefined
  return (err) => {
    const reason = err === undefined ? undefined : errorMessage(err)
    if (reason !== undefined && reason !== reported)
      log.error({ err }, 'cannot apply a change from the store')
    reported = reason
  }
}
