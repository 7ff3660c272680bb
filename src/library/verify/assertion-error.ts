/** Why there is no identity; `keys-unavailable` = it cannot be told, as the gateway's keys have never been read. */
export type AssertionErrorCode =
  | 'assertion-missing'
  | 'assertion-invalid'
  | 'assertion-expired'
  | 'keys-unavailable'

const messages: Readonly<Record<AssertionErrorCode, string>> = {
  'assertion-missing': 'The request has no assertion: it did not come through the gateway.',
  'assertion-invalid': 'The assertion is not one of this gateway for this backend.',
  'assertion-expired': 'The assertion has expired.',
  'keys-unavailable': "The gateway's keys cannot be read.",
}

/** A request without a valid assertion. Its message is for anybody, the cause for the log. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
  readonly code: AssertionErrorCode
  /** 401, or 503 where it cannot be told. Express and Fastify answer with it. */
  readonly statusCode: 401 | 503

  constructor(code: AssertionErrorCode, cause?: unknown) {
    super(messages[code], { cause })
    this.code = code
    this.statusCode = code === 'keys-unavailable' ? 503 : 401
  }
}
