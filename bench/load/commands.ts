import type { DistinctKind } from './distinct-requests.ts'

/** Commands to the load generator process, and its results. */

interface Closed {
  readonly kind: 'closed'
  readonly url: string
  /** Whole requests, taken in turn by all connections. */
  readonly requests: readonly string[]
  /** Any other is an error. */
  readonly status: number
  readonly connections: number
  readonly durationMs: number
  /** Each response has the refresh token that the next request of the same connection sends. */
  readonly isRefresh?: boolean
  /** Each request has a unique number of twelve digits in place of each `requestNumberPlaceholder`. */
  readonly isNumbered?: boolean
}

export const requestNumberPlaceholder = '{number}'

/** The same over HTTP/2 and TLS: requests of GET, with the fields of one of a list in turn, which are numbered. */
interface ClosedH2 {
  readonly kind: 'closedH2'
  readonly url: string
  readonly fields: readonly Readonly<Record<string, string>>[]
  readonly connections: number
  /** How many requests each connection has open at a time. */
  readonly streams: number
  readonly durationMs: number
}

interface Paced extends Omit<Closed, 'kind' | 'isRefresh' | 'isNumbered'> {
  readonly kind: 'paced'
  readonly perSecond: number
}

interface Body {
  readonly kind: 'body'
  readonly url: string
  /** The head of the request; a body of `sentBytes` follows. */
  readonly head: string
  readonly sentBytes: number
}

/** Streams of events, held open. */
interface Listen {
  readonly kind: 'listen'
  readonly url: string
  readonly request: string
  readonly connections: number
}

/** Counting the events of the streams that are held open. */
interface Hear {
  readonly kind: 'hear'
  readonly durationMs: number
}

/** WebSockets, held open. */
interface Idle {
  readonly kind: 'idle'
  readonly url: string
  readonly request: string
  readonly connections: number
}

/** Requests of which no two are the same. */
interface Distinct {
  readonly kind: 'distinct'
  readonly url: string
  readonly what: DistinctKind
  /** DistinctCallers as JSON. */
  readonly callersFile: string
  readonly count: number
  readonly connections: number
}

/** Of all that is held open. */
interface Close {
  readonly kind: 'close'
}

export type LoadCommand = Closed | ClosedH2 | Paced | Body | Listen | Hear | Idle | Distinct | Close

export interface LoadResults {
  /** `p99Ms`: absent where the generator does not measure it. */
  readonly closed: { readonly answers: number; readonly elapsedMs: number; readonly p99Ms?: number }
  readonly closedH2: { readonly answers: number; readonly elapsedMs: number }
  readonly paced: { readonly answers: number; readonly p50Ms: number; readonly p99Ms: number }
  readonly body: { readonly receivedBytes: number; readonly elapsedMs: number }
  readonly listen: { readonly open: number }
  readonly hear: {
    readonly events: number
    readonly elapsedMs: number
    readonly p50Ms: number
    readonly p99Ms: number
  }
  readonly idle: { readonly open: number }
  readonly distinct: { readonly answers: number; readonly elapsedMs: number }
  readonly close: { readonly closed: number }
}
