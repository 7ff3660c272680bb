import type { StoreHealth } from '../cache/store-connection-state.ts'
import type { LoadedConfig } from '../config/load.ts'
import type { MetricsSnapshot } from '../metrics/metrics.ts'
import type { StoreState } from '../store/diagnostics.ts'

/** The part that takes the requests: this process, or several workers that share a port. */
export interface RequestServer {
  /** The URL for clients, such as `http://127.0.0.1:8080`. */
  readonly url: string
  health(): StoreHealth | Promise<StoreHealth>
  storeState(): StoreState | Promise<StoreState>
  /** The whole exposition in Prometheus text format. */
  metricsText(): Promise<string>
  /** The same as plain JSON. */
  metricsSnapshot(): Promise<MetricsSnapshot>
  /**
   * Builds all that another config needs, beside the one in force.
   * @throws why it cannot be built: nothing has changed then
   */
  prepare(next: LoadedConfig): Promise<PreparedConfig>
  /**
   * Takes no new connections, and waits until the open ones have ended by themselves.
   * @returns false where requests had to be broken off when the time was over
   */
  drain(timeoutMs: number): Promise<boolean>
  /** Ends at once; to be called when nothing is under way any more. */
  close(): Promise<void>
}

/** Another config, ready to be taken: one of the two has to be called. */
export interface PreparedConfig {
  /**
   * New requests get the new config; those under way end with the old one.
   * @throws why it cannot be taken: nothing has changed then, and it has been discarded
   */
  commit(): void | Promise<void>
  discard(): void
}
