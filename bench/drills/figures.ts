/** A quantile: 0.99 for p99. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0
}

/** `median 1.2, p99 3.4, most 5.6`. */
export function summary(values: readonly number[], digits = 1): string {
  const figure = (share: number) => percentile(values, share).toFixed(digits)
  return `median ${figure(0.5)}, p99 ${figure(0.99)}, most ${figure(1)}`
}

/** The requirements of a drill and the results; a drill fails if one is not met. */
export class Report {
  #isGood = true

  line(text: string): void {
    console.log(text)
  }

  demand(what: string, holds: boolean, found: string): void {
    if (!holds) this.#isGood = false
    console.log(`${holds ? 'ok  ' : 'FAIL'}  ${what}: ${found}`)
  }

  get isGood(): boolean {
    return this.#isGood
  }
}
