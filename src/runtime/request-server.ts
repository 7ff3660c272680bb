import type { LoadedConfig } from '#config/load.ts'
import type { PackedSnapshot } from '#ops/metrics/metrics.ts'
import type { StoreHealth, StoreState } from '#store/store-health.ts'

/** Serves the requests: this process, or several workers that share a port. */
export interface RequestServer extends WorkerUrls {
  health(): StoreHealth | Promise<StoreHealth>
  storeState(): StoreState | Promise<StoreState>
  /** The whole exposition: in Prometheus text format, or as OpenMetrics. */
  metricsText(isOpenMetrics?: boolean): Promise<string>
  /** All metrics as plain JSON. */
  metricsSnapshot(): Promise<PackedSnapshot>
  /**
   * Builds everything that another config needs, beside the current one.
   * @throws why it cannot be built: nothing has changed then
   */
  prepare(next: LoadedConfig): Promise<PreparedConfig>
  /**
   * Stops accepting connections, and waits until the open ones have finished.
   * @returns false if requests were aborted at the timeout
   */
  drain(timeoutMs: number): Promise<boolean>
  /** Closes immediately; to be called when nothing is in flight. */
  close(): Promise<void>
}

/** Where it can be reached. */
export interface WorkerUrls {
  /** For clients, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Where other proxies ask whether to forward a request; undefined = there is no such listener. */
  readonly decideUrl: string | undefined
  /** Where plain HTTP is redirected; undefined = there is no such listener. */
  readonly redirectUrl: string | undefined
}

/** Another config, ready to be applied: either `commit` or `discard` must be called. */
export interface PreparedConfig {
  /**
   * New requests get the new config; in-flight requests finish with the old one.
   * @throws why it cannot be applied: nothing has changed then, and it has been discarded
   */
  commit(): void | Promise<void>
  discard(): void
}
