import type { ConfigSnapshot } from '#config/config.ts'
import type { FetchedKeySet, FetchReason, KeySetLocation } from '#identity/issuers/issuer-fetches.ts'
import type { PackedSnapshot } from '#ops/metrics/metrics.ts'
import type { MonotonicMs } from '#platform/time.ts'
import type { CountedPurpose, Rate, RateResult } from '#store/rates.ts'
import type { StoreHealth, StoreState } from '#store/store-health.ts'
import type { WorkerUrls } from '../request-server.ts'
import type { WorkerPorts } from './worker-ports.ts'

/** Sent to a worker at its start. */
export interface WorkerStartOptions {
  readonly snapshot: ConfigSnapshot
  /** Never 0, as all workers listen on the same ports. */
  readonly ports: WorkerPorts
  /** 48 bytes in base64, so that any worker can resume a TLS session of another. */
  readonly ticketKeys: string
  /** The worker's number, from 1. */
  readonly worker: number
  /** How many workers there are. */
  readonly workers: number
  /** When any worker last read the change log, as far as the fleet knows (toSharedClock); null = never. */
  readonly lastReadAt: number | null
}

/** Requests of the fleet to a worker. Both sides have the same version: the fleet starts its own files. */
export type RequestsToWorker = {
  /** Answered once it serves requests. */
  start: { given: WorkerStartOptions; answer: WorkerUrls }
  /** Builds another config beside the current one. */
  prepare: { given: { readonly snapshot: ConfigSnapshot }; answer: null }
  commit: { given: null; answer: null }
  discard: { given: null; answer: null }
  /** Answered immediately by a worker that is not hung. */
  ping: { given: null; answer: PingReply }
  /** The metrics of a worker: for a scrape, or to be kept in case it dies. */
  sample: { given: { readonly isScrape: boolean }; answer: PackedSnapshot }
  health: { given: null; answer: StoreHealth }
  storeState: { given: null; answer: StoreState }
  /** Answered when the drain is over: false if requests were aborted. Then the worker exits. */
  drain: { given: { readonly timeoutMs: number }; answer: boolean }
}

export type RequestsToFleet = {
  /** Counts for all workers together. */
  take: { given: readonly RateRequest[]; answer: readonly RateResult[] }
  /** What the workers of an instance remember together: `InstanceMemory` in identity/cache. */
  remember: { given: readonly MemoryUpdate[]; answer: null }
  recall: { given: readonly string[]; answer: readonly unknown[] }
  /** Fetches the keys of a foreign issuer once for all workers. */
  fetchKeySet: {
    given: { readonly location: KeySetLocation; readonly reason: FetchReason }
    answer: FetchedKeySet
  }
}

/** The response of a worker to a ping. */
export interface PingReply {
  /** When it last read the change log (toSharedClock); null = never. */
  readonly lastReadAt: number | null
}

/** What a worker has looked up or seen change; times are on the shared clock (toSharedClock). */
export type MemoryUpdate =
  | { readonly kind: 'learn'; readonly key: string; readonly value: unknown; readonly at: number }
  | { readonly kind: 'forget'; readonly key: string; readonly at: number }
  | { readonly kind: 'watch' | 'clear'; readonly at: number }

export interface RateRequest {
  readonly purpose: CountedPurpose
  readonly subject: string
  readonly rate: Rate
}

// Times in messages are on the monotonic clock of the machine, in milliseconds: performance.now() begins at 0 in each
// process, this one is the same in all.

/** What this clock showed when performance.now() was 0 in this process. */
const originMs = Number(process.hrtime.bigint()) / 1e6 - performance.now()

export function toSharedClock(now: MonotonicMs): number {
  return now + originMs
}

export function fromSharedClock(sharedMs: number): MonotonicMs {
  return sharedMs - originMs
}
