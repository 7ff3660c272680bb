import type { ConfigSnapshot } from '../config/snapshot.ts'
import type { IdentityHealth } from '../identity.ts'
import type { MetricsSnapshot } from '../metrics/metrics.ts'
import type { Rate, Taken } from '../store/store.ts'

/** What a worker is told as its first. */
export interface StartTerms {
  readonly snapshot: ConfigSnapshot
  /** Never 0: all workers listen on the same. */
  readonly port: number
  /** 48 bytes in base64: a TLS session that one has begun is taken up by any. */
  readonly ticketKeys: string
  /** Its number, from 1, and how many there are. */
  readonly worker: number
  readonly workers: number
}

/** What the fleet asks a worker. Either side is of the same version: the fleet starts its own file. */
export type ToWorker = {
  /** Answered once it takes requests. */
  start: { given: StartTerms; answer: { readonly url: string } }
  /** Builds another config beside the one that runs. */
  prepare: { given: { readonly snapshot: ConfigSnapshot }; answer: null }
  commit: { given: null; answer: null }
  discard: { given: null; answer: null }
  sample: { given: null; answer: MetricsSnapshot }
  health: { given: null; answer: IdentityHealth }
  /** Answered when it has ended well, or with false; the worker ends then. */
  drain: { given: { readonly timeoutMs: number }; answer: boolean }
}

/** What a worker asks the fleet. */
export type ToFleet = {
  /** Counts, for all workers together. */
  take: { given: readonly Take[]; answer: readonly Taken[] }
}

export interface Take {
  readonly subject: string
  readonly rate: Rate
}
