import type { Principal } from '../auth/principal.ts'

export interface IdentityHeaders {
  readonly id: string
  readonly role: string
  readonly email?: string | undefined
  readonly verified?: string | undefined
  readonly name?: string | undefined
  readonly session?: string | undefined
  readonly scheme?: string | undefined
}

type Writer = (principal: Principal) => string

/**
 * Makes what writes the identity as header lines, each ended by CR LF.
 * @returns nothing for a field that a principal does not have, such as the session of a secret key
 */
export function createIdentityWriter(headers: IdentityHeaders): Writer {
  const writers = [
    createFieldWriter(headers.id, ({ accountId }) => accountId),
    createFieldWriter(headers.role, ({ role }) => role),
    createFieldWriter(headers.email, ({ email }) => email),
    createFieldWriter(headers.verified, ({ isVerified }) => String(isVerified)),
    createFieldWriter(headers.name, ({ firstName, lastName }) => `${firstName} ${lastName}`.trim()),
    createFieldWriter(headers.session, ({ sessionId }) => sessionId),
    createFieldWriter(headers.scheme, ({ scheme }) => scheme),
  ].filter((writer) => writer !== undefined)
  return (principal) => {
    let lines = ''
    for (const write of writers) lines += write(principal)
    return lines
  }
}

function createFieldWriter(
  name: string | undefined,
  read: (principal: Principal) => string | undefined,
): Writer | undefined {
  if (name === undefined) return undefined
  return (principal) => {
    const value = read(principal)
    return value === undefined ? '' : `${name}: ${headerValue(value)}\r\n`
  }
}

const visibleAscii = /^[!-~]*$/

/** The value itself where it is visible ASCII, else percent-encoded as UTF-8 (RFC 3986 2.1). */
export function headerValue(value: string): string {
  return visibleAscii.test(value) ? value : encodeURIComponent(value.toWellFormed())
}
