import { exemplarsOf } from '#ops/metrics/histogram.ts'
import { addCumulative, mergeMetrics } from '#ops/metrics/merge-metrics.ts'
import {
  type Metrics,
  type MetricsSnapshot,
  type PackedSnapshot,
  unpackSnapshot,
} from '#ops/metrics/metrics.ts'
import { toOpenMetrics } from '#ops/metrics/open-metrics-format.ts'
import type { WorkerProcess } from './worker-process.ts'

/** The metrics of all workers, merged. */
interface FleetMetrics {
  /** The whole exposition: in Prometheus text format, or as OpenMetrics. */
  text(isOpenMetrics?: boolean): Promise<string>
  /** The same as plain JSON. */
  snapshot(): Promise<MetricsSnapshot>
  /** To be called when a worker has died: keeps the counts that it last reported. */
  onWorkerExit(worker: WorkerProcess): void
  close(): void
}

interface FleetMetricsOptions {
  readonly metrics: Metrics
  workers(): readonly WorkerProcess[]
}

/** How often workers are sampled, so that little is lost when one dies. */
const sampleMs = 1_000
const sampleTimeoutMs = 2_000

export function openFleetMetrics({ metrics, workers }: FleetMetricsOptions): FleetMetrics {
  let endedCounts: MetricsSnapshot = []
  /** Additions run one after another, as each adds to the result of the previous one. */
  let additions: Promise<void> = Promise.resolve()

  /** A worker that does not respond keeps its last sample. */
  async function sample(isScrape: boolean): Promise<void> {
    await Promise.all(
      workers().map(async (worker) => {
        try {
          worker.lastSample = await worker.channel.request('sample', { isScrape }, sampleTimeoutMs)
        } catch {}
      }),
    )
  }

  async function merge(isScrape: boolean) {
    await sample(isScrape)
    metrics.workersUp.set(workers().length)
    const instance = await metrics.snapshot()
    await allAdded()
    // Synchronously: a worker is either among the members or in `endedCounts`, never in both or in neither.
    return mergeMetrics({
      instance,
      workers: workers().map(({ lastSample }) => unpackSnapshot(lastSample)),
      ended: endedCounts,
    })
  }

  async function addEnded(last: PackedSnapshot): Promise<void> {
    endedCounts = await addCumulative(endedCounts, unpackSnapshot(last))
  }

  async function allAdded(): Promise<void> {
    for (let awaited: Promise<void> | undefined; awaited !== additions; ) {
      awaited = additions
      await awaited
    }
  }

  const timer = setInterval(() => void sample(false), sampleMs).unref()

  return {
    text: async (isOpenMetrics = false) => {
      const text = await (await merge(true)).text()
      if (!isOpenMetrics) return text
      const histograms = workers().flatMap(({ lastSample }) =>
        lastSample.filter((metric) => 'rows' in metric),
      )
      return toOpenMetrics(text, exemplarsOf(histograms))
    },
    snapshot: async () => (await merge(false)).snapshot(),
    onWorkerExit: ({ lastSample }) => {
      metrics.workerDeaths.inc()
      additions = additions.then(() => addEnded(lastSample))
    },
    close: () => clearInterval(timer),
  }
}
