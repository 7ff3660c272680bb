import type { Path, Source } from '../problem.ts'

/** Something that is allowed but probably not intended, and its option; the message says how to fix it. */
export interface Warning {
  readonly path: Path
  readonly message: string
  /** The source, if it differs from that of the option. */
  readonly source?: Source
}
