import type { Environment } from '../config/secrets.ts'

/** What a command finds around it. */
export interface Terminal {
  /** Standard output: what was asked for. */
  readonly out: Output
  /** Standard error: all else. */
  readonly err: Output
  /** Standard input, as bytes or text; default: that of the process. */
  readonly input?: AsyncIterable<unknown>
  /** Default: that of the process. */
  readonly env?: Environment
}

interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
}
