import { type FaultLog, summarizeResponse } from './faults.ts'
import { type Outcome, parseReceived } from './send.ts'

/** Who a request is from, as the backend must see it; undefined = anonymous. */
export interface Caller {
  readonly id: string
  readonly role: string
}

const shownMax = 10

/** Checks every response, and records violations. */
export class ResponseChecker {
  readonly #faults: FaultLog
  /** Counts of responses by kind. */
  readonly kinds = new Map<string, number>()
  answered = 0
  crossed = 0
  unexplained = 0
  readonly examples: string[] = []

  constructor(faults: FaultLog) {
    this.#faults = faults
  }

  /** Expects a response of the backend, for this caller and this body. */
  expectForwarded(what: string, outcome: Outcome, caller: Caller | undefined, bytes = 0): void {
    if (outcome.status !== 200) {
      this.expectStatus(what, outcome, [200])
      return
    }
    this.#count('200')
    const seen = parseReceived(outcome)
    const isOwn =
      seen !== undefined &&
      seen.nonce === outcome.nonce &&
      seen.id === caller?.id &&
      seen.role === caller?.role &&
      seen.bytes === bytes &&
      seen.sha256 === outcome.sha256
    if (isOwn) return
    this.crossed++
    this.#example(`crossed: ${what}: ${outcome.text.slice(0, 300)}`)
  }

  /** Expects one of these statuses, unless a fault explains another. */
  expectStatus(what: string, outcome: Outcome, statuses: readonly number[]): void {
    const shown = summarizeResponse(outcome)
    this.#count(shown.code === undefined ? String(shown.status) : `${shown.status} ${shown.code}`)
    if (statuses.includes(shown.status) || this.#faults.explains(shown, outcome)) return
    this.unexplained++
    const took = `${(outcome.endedAt - outcome.sentAt).toFixed(0)} ms`
    const when = this.#faults.before(outcome)
    this.#example(`unexplained: ${what}, ${when}: ${shown.status} ${shown.code ?? ''} in ${took}`)
  }

  #count(kind: string): void {
    this.answered++
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1)
  }

  #example(text: string): void {
    if (this.examples.length < shownMax) this.examples.push(text)
  }
}
