/**
 * Why a request has no identity. Two mean that this cannot be known: `keys-unavailable` = the gateway's keys have never
 * been read; `revocations-unknown` = what the gateway has revoked is not known at the moment.
 */
export type AssertionErrorCode =
  | 'assertion-missing'
  | 'assertion-invalid'
  | 'assertion-expired'
  | 'keys-unavailable'
  | 'revoked'
  | 'revocations-unknown'

const messages: Readonly<Record<AssertionErrorCode, string>> = {
  'assertion-missing': 'The request has no assertion: it did not come through the gateway.',
  'assertion-invalid': 'The assertion was not made by this gateway for this backend.',
  'assertion-expired': 'The assertion has expired.',
  'keys-unavailable': "The gateway's keys cannot be read.",
  revoked: 'The account has changed or the session has ended since this was issued.',
  'revocations-unknown': 'The revocations of the gateway are not known at the moment.',
}

/** A request without a valid assertion. Its message may be shown to anybody, its cause is for the log. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
  readonly code: AssertionErrorCode
  /**
   * 503 if it cannot be known whether the assertion is valid (`keys-unavailable`, `revocations-unknown`), else 401.
   * Express and Fastify respond with it.
   */
  readonly statusCode: 401 | 503

  constructor(code: AssertionErrorCode, cause?: unknown) {
    super(messages[code], { cause })
    this.code = code
    this.statusCode = code === 'keys-unavailable' || code === 'revocations-unknown' ? 503 : 401
  }
}
