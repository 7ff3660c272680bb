/** The gateway gave no tokens. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  /** The code of the gateway, such as `credentials-invalid`; `session-over` = the user has to sign in again. */
  readonly code: string
  /** The status of the response. */
  readonly status: number

  constructor(code: string, status: number, detail: string) {
    super(detail)
    this.code = code
    this.status = status
  }
}
