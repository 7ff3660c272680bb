import type { Outcome } from './send.ts'

/** The visible outcome of a response: its status and, for responses of the gateway, the error code. */
export interface ResponseSummary {
  readonly status: number
  readonly code: string | undefined
}

/** A fault that is injected into the system under load. */
export interface Fault {
  readonly name: string
  /** Injects and reverts it. */
  run(): Promise<void>
  /** Responses that it may cause, while it lasts and shortly after. */
  readonly explains: readonly Explanation[]
}

/** A response that a fault may cause. */
export type Explanation =
  | 'no-answer'
  | 'store-unavailable'
  | 'upstream-unreachable'
  | 'upstream-unavailable'
  | 'upstream-timeout'
  | 'upstream-invalid-response'

/** How long after its end a fault still explains responses: ejected targets, back-off, reconnects. */
const settleMs = 6_000

/** The same if the machine itself was too busy for a moment. */
const starvedSettleMs = 500

/** The timeline of faults, and whether a response is explained by one of them. */
export class FaultLog {
  readonly #spans: { readonly fault: Fault; readonly from: number; until: number }[] = []

  async run(fault: Fault): Promise<void> {
    const span = { fault, from: performance.now(), until: Number.POSITIVE_INFINITY }
    this.#spans.push(span)
    try {
      await fault.run()
    } finally {
      span.until = performance.now() + settleMs
    }
  }

  explains(shown: ResponseSummary, { sentAt, endedAt }: Outcome): boolean {
    const what = shown.status === 0 ? 'no-answer' : shown.code
    return this.#spans.some(
      ({ fault, from, until }) =>
        from <= endedAt && sentAt <= until && fault.explains.some((explanation) => explanation === what),
    )
  }

  /** Whether a fault with this explanation is active, or was a moment ago. */
  isAtRisk(explanation: Explanation): boolean {
    const now = performance.now()
    return this.#spans.some(({ fault, until }) => now <= until && fault.explains.includes(explanation))
  }

  /** The last fault that began before a response, and how long before. */
  before({ endedAt }: Outcome): string {
    const last = this.#spans.findLast(({ from }) => from <= endedAt)
    return last
      ? `${((endedAt - last.from) / 1_000).toFixed(1)} s after ${last.fault.name}`
      : 'before any fault'
  }

  /** A fault that nobody injected. @param lastsMs how long from now on it still explains responses */
  note(fault: Pick<Fault, 'name' | 'explains'>, from: number, lastsMs = starvedSettleMs): void {
    const until = performance.now() + lastsMs
    this.#spans.push({ fault: { ...fault, run: async () => {} }, from, until })
  }

  /** How often each occurred. */
  counts(): string {
    const counts = new Map<string, number>()
    for (const { fault } of this.#spans) counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1)
    return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
  }
}

/** The status of an outcome, and the code in a problem document. */
export function summarizeResponse({ status, text }: Pick<Outcome, 'status' | 'text'>): ResponseSummary {
  const code = status >= 400 ? /"code":"([a-z-]+)"/.exec(text)?.[1] : undefined
  return { status, code }
}
