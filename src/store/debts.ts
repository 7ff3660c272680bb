import type { MonotonicMs } from '#platform/time.ts'

/** A subject that owes, and the purpose. */
export interface Debtor {
  readonly purpose: string
  readonly subject: string
}

/** A debtor, and the place of its numbers until it is deleted. */
interface Debt extends Debtor {
  readonly place: number
}

/** The places of those who owe for one purpose, by subject. */
type Places = Map<string, number>

/**
 * How long it takes until a subject owes nothing, by purpose and subject. The numbers are in one array, to save memory,
 * and without gaps: the last debt moves to the place of one that is deleted.
 */
export class Debts {
  /** By purpose; those for which nobody owes are dropped. */
  readonly #places = new Map<string, Places>()
  /** By place: when it was set, and what was owed then in ms. */
  readonly #numbers: Float64Array
  /** By place: the subject that owes, and its purpose. */
  readonly #debtors: string[] = []
  #size = 0
  /** The place visited last. */
  #visited = 0

  /** @param subjectsMax how many there may be at once */
  constructor(subjectsMax: number) {
    this.#numbers = new Float64Array(2 * subjectsMax)
  }

  get size(): number {
    return this.#size
  }

  /** The place of a subject until one is deleted; undefined = it owes nothing. */
  find(purpose: string, subject: string): number | undefined {
    return this.#places.get(purpose)?.get(subject)
  }

  /** The place if it belongs to the subject, without a look-up. @param place below 0 = none */
  check(purpose: string, subject: string, place = -1): number | undefined {
    const debtors = this.#debtors
    const isOf = place >= 0 && debtors[2 * place] === subject && debtors[2 * place + 1] === purpose
    return isOf ? place : undefined
  }

  remainingMs(place: number, now: MonotonicMs): number {
    const at = this.#numbers[2 * place] ?? 0
    const owedMs = this.#numbers[2 * place + 1] ?? 0
    return Math.max(0, owedMs - Math.max(0, now - at))
  }

  /**
   * Updates in place: deleting and re-adding a key of a Map makes it walk over all deleted entries.
   * @param owedMs counts from `at`: an absolute time would leave no precision for fractions of an interval
   */
  set(place: number, at: MonotonicMs, owedMs: number): void {
    this.#numbers[2 * place] = at
    this.#numbers[2 * place + 1] = owedMs
  }

  /** Adds a subject that owes nothing yet, if there is room. @returns its place, to set what it owes */
  add({ purpose, subject }: Debtor): number {
    const place = this.#size++
    const places = this.#places.get(purpose) ?? new Map<string, number>()
    if (places.size === 0) this.#places.set(purpose, places)
    places.set(subject, place)
    this.#debtors.push(subject, purpose)
    return place
  }

  delete({ purpose, subject }: Debtor): void {
    const places = this.#places.get(purpose)
    const place = places?.get(subject)
    if (places === undefined || place === undefined) return
    places.delete(subject)
    if (places.size === 0) this.#places.delete(purpose)
    this.#moveLast(place)
  }

  /** Moves the last debt into a place whose subject is gone. */
  #moveLast(place: number): void {
    const last = --this.#size
    const [subject, purpose] = this.#debtors.splice(2 * last, 2)
    if (place === last || subject === undefined || purpose === undefined) return
    this.#debtors[2 * place] = subject
    this.#debtors[2 * place + 1] = purpose
    this.#numbers.copyWithin(2 * place, 2 * last, 2 * last + 2)
    this.#places.get(purpose)?.set(subject, place)
  }

  /**
   * Visits one debt after another, from the last place to the first: what moves to the place of a deleted one has been
   * visited already.
   * @returns undefined if there is none
   */
  next(): Debt | undefined {
    const place = (this.#visited > 0 && this.#visited <= this.#size ? this.#visited : this.#size) - 1
    const [subject, purpose] = [this.#debtors[2 * place], this.#debtors[2 * place + 1]]
    if (subject === undefined || purpose === undefined) return undefined
    this.#visited = place
    return { purpose, subject, place }
  }
}
