import type { Environment } from '../config/secrets.ts'

/** The streams and the environment of a command. */
export interface Terminal {
  /** Standard output: for the requested data. */
  readonly out: Output
  /** Standard error: for everything else. */
  readonly err: Output
  /** Standard input, as bytes or text; default: the standard input of the process. */
  readonly input?: AsyncIterable<unknown>
  /** Default: the environment of the process. */
  readonly env?: Environment
}

interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
}
