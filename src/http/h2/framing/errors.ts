import { errorCode } from './constants.ts'

/** What the peer did ends the connection (RFC 9113 5.4.1). */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** See errorCode. */
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export function protocolError(message: string): ConnectionError {
  return new ConnectionError(errorCode.protocolError, message)
}

export function frameSizeError(what: string): ConnectionError {
  return new ConnectionError(errorCode.frameSizeError, `${what} has a wrong length`)
}

export function tooMany(message: string): ConnectionError {
  return new ConnectionError(errorCode.enhanceYourCalm, message)
}

/** A message is malformed in a way that only its stream can be told of (RFC 9113 8.1.1). */
export class MalformedStream extends Error {
  override readonly name = 'MalformedStream'
}
