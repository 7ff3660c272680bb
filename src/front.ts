import type { LoadedConfig } from './config/load.ts'
import type { IdentityHealth } from './identity.ts'
import type { MetricsSnapshot } from './metrics/metrics.ts'

/** What takes the requests: this process, or several workers that share a port. */
export interface Front {
  /** Where clients come in, such as `http://127.0.0.1:8080`. */
  readonly url: string
  health(): IdentityHealth | Promise<IdentityHealth>
  /** The whole exposition in Prometheus text format. */
  metricsText(): Promise<string>
  /** The same as plain JSON. */
  metricsSnapshot(): Promise<MetricsSnapshot>
  /**
   * Builds all that another config needs, beside what runs.
   * @throws whatever keeps it from being built: nothing has changed then
   */
  prepare(next: LoadedConfig): Promise<PreparedChange>
  /**
   * Takes no new connections and waits until those that are open have ended by themselves.
   * @returns false where requests had to be broken off after the time
   */
  drain(timeoutMs: number): Promise<boolean>
  /** Ends at once, when nothing is under way any more. */
  close(): Promise<void>
}

/** Another config, ready to be taken. One of the two is to be called. */
export interface PreparedChange {
  /**
   * From now on requests meet the new config; those under way end on the old one.
   * @throws what keeps it from being taken: nothing has changed then, and it has been discarded
   */
  commit(): void | Promise<void>
  discard(): void
}
