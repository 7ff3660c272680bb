import type { Path, Source } from '../problem.ts'

/** What is allowed but probably not meant, and at which option; the message says what to do. */
export interface Warning {
  readonly path: Path
  readonly message: string
  /** Where that is not where the option is set. */
  readonly source?: Source
}
