import type { Path, Source } from '../problem.ts'

/** Something that is allowed but probably not intended, and the option; the message says what to do. */
export interface Warning {
  readonly path: Path
  readonly message: string
  /** The source, if it is not the place where the option is set. */
  readonly source?: Source
}
