/** What one test file came to. */
export interface FileResult {
  readonly file: string
  /** Assertions, as tap counts them. */
  readonly passed: number
  readonly failures: readonly Failure[]
  readonly skips: readonly Skip[]
  readonly ms: number
  /** Whether it was given up: what it began may still be going on in its process. */
  readonly timedOut: boolean
}

export interface Failure {
  /** The titles of the test, from the outermost in. */
  readonly test: string
  /** What tap says of it. */
  readonly detail: string
}

export interface Skip {
  readonly test: string
  readonly reason: string
}

/** What the process that runs files tells the runner. */
export type ChildMessage =
  /** From now on the file may take so long. */
  | { readonly kind: 'allow'; readonly ms: number }
  | { readonly kind: 'result'; readonly result: FileResult }
  /** After the last file: what one of them failed in after its end. */
  | { readonly kind: 'late'; readonly failure: Failure }
  /** After the last file: what keeps the process from ending. */
  | { readonly kind: 'open'; readonly resources: readonly string[] }

/** What the runner tells that process. */
export type RunnerMessage =
  | { readonly kind: 'run'; readonly file: string; readonly allowedMs: number }
  | { readonly kind: 'end' }
