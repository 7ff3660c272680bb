import type { ConfigSnapshot } from '../config/snapshot.ts'
import type { IdentityHealth } from '../identity.ts'
import type { MetricsSnapshot } from '../metrics/metrics.ts'
import type { StoreState } from '../store/condition.ts'
import type { Rate, Taken } from '../store/store.ts'

/** The first thing that a worker is told. */
export interface StartTerms {
  readonly snapshot: ConfigSnapshot
  /** Never 0: all workers listen on the same port. */
  readonly port: number
  /** 48 bytes in base64: a TLS session that one worker began can be resumed by any. */
  readonly ticketKeys: string
  /** The worker's number, from 1, and how many workers there are. */
  readonly worker: number
  readonly workers: number
}

/** What the fleet asks a worker. Both sides have the same version: the fleet starts its own files. */
export type ToWorker = {
  /** Answered once it takes requests. */
  start: { given: StartTerms; answer: { readonly url: string } }
  /** Builds another config beside the one in force. */
  prepare: { given: { readonly snapshot: ConfigSnapshot }; answer: null }
  commit: { given: null; answer: null }
  discard: { given: null; answer: null }
  sample: { given: null; answer: MetricsSnapshot }
  health: { given: null; answer: IdentityHealth }
  storeState: { given: null; answer: StoreState }
  /** Answered when the drain is over: false where requests were broken off. Then the worker ends. */
  drain: { given: { readonly timeoutMs: number }; answer: boolean }
}

/** What a worker asks the fleet. */
export type ToFleet = {
  /** Counts for all workers together. */
  take: { given: readonly Take[]; answer: readonly Taken[] }
}

export interface Take {
  readonly subject: string
  readonly rate: Rate
}
