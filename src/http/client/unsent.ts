import { UpstreamFailure } from './failure.ts'
import type { SentBody } from './sent-body.ts'

/** The connection was lost before anything of the request was written to it, so that the target knows nothing of it. */
export class Unsent extends UpstreamFailure {
  /** What had been taken of the body; undefined = the request has none. */
  readonly body: SentBody | undefined

  constructor(cause: UpstreamFailure, body: SentBody | undefined) {
    super('not-processed', cause.message, cause)
    this.body = body
  }
}
