import { fullName } from '#accounts/account-input.ts'
import type { Principal, Profile } from '#identity/decision.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'

export interface IdentityHeaders {
  readonly id: string
  readonly role: string
  readonly email?: string | undefined
  readonly verified?: string | undefined
  readonly name?: string | undefined
  readonly session?: string | undefined
  readonly scheme?: string | undefined
  readonly key?: string | undefined
  readonly scopes?: string | undefined
  readonly plan?: string | undefined
  readonly issuer?: string | undefined
}

/** The header that carries an assertion, and the function that signs one. */
export interface AssertionHeader {
  readonly header: string
  /** @throws GatehouseError `store-unavailable` where no assertion can be signed */
  of(principal: Principal, upstream: string): string
}

type LineWriter = (principal: Principal) => string

/**
 * Creates the function that writes the identity as header lines.
 * @returns a writer that leaves out what a principal does not have, such as the session of a secret key; it throws
 *   GatehouseError `store-unavailable` if the account could not be read, and something of it is needed
 */
export function createIdentityWriter(headers: IdentityHeaders): LineWriter {
  const writers = identityFieldsOf(headers).map(createFieldWriter)
  return (principal) => {
    let lines = ''
    for (const write of writers) lines += write(principal)
    return lines
  }
}

/** A configured header with the value that it has for a principal; undefined = none. */
interface IdentityField {
  readonly name: string
  /** @throws GatehouseError `store-unavailable` if the account could not be read, and it is needed */
  read(principal: Principal): string | undefined
  /** Whether the value is a valid header value as it is, as IDs are. */
  readonly isEncoded: boolean
}

/** The configured headers, in the order in which they are written. */
export function identityFieldsOf(headers: IdentityHeaders): readonly IdentityField[] {
  return [
    field(headers.id, ({ accountId }) => accountId, true),
    field(headers.role, ({ role }) => role),
    field(headers.email, (principal) => profileOf(principal).email),
    field(headers.verified, (principal) => String(profileOf(principal).isVerified)),
    field(headers.name, nameOf),
    field(headers.session, ({ sessionId }) => sessionId),
    field(headers.scheme, ({ scheme }) => scheme),
    field(headers.key, (principal) => requireAccount(principal).key),
    field(headers.scopes, ({ scopes }) => (scopes.length === 0 ? undefined : scopes.join(' '))),
    field(headers.plan, (principal) => requireAccount(principal).plan),
    field(headers.issuer, ({ issuer }) => issuer),
  ].flat()
}

function field(
  name: string | undefined,
  read: IdentityField['read'],
  isEncoded = false,
): readonly IdentityField[] {
  return name === undefined ? [] : [{ name, read, isEncoded }]
}

/** undefined for a foreign issuer, which provides no name. */
function nameOf(principal: Principal): string | undefined {
  return principal.issuer === undefined ? fullName(profileOf(principal)) : undefined
}

function profileOf({ profile }: Principal): Profile {
  if (!profile) throw new GatehouseError('store-unavailable')
  return profile
}

/** The principal, if its account could be read: only then does an absent key or plan mean that there is none. */
function requireAccount(principal: Principal): Principal {
  profileOf(principal)
  return principal
}

function createFieldWriter(field: IdentityField): LineWriter {
  return (principal) => {
    const value = identityValue(field, principal)
    return value === undefined ? '' : `${field.name}: ${value}\r\n`
  }
}

/**
 * The encoded header value for a principal; undefined = none.
 * @throws what `read` throws
 */
export function identityValue({ read, isEncoded }: IdentityField, principal: Principal): string | undefined {
  const value = read(principal)
  return value === undefined || isEncoded ? value : encodeHeaderValue(value)
}

/**
 * A value in visible ASCII: other characters, and `%` itself, are percent-encoded as UTF-8 (RFC 3986 2.1). Decoding
 * once restores it; two different values never have the same encoding.
 */
export function encodeHeaderValue(value: string): string {
  return isPlain(value) ? value : value.toWellFormed().replaceAll(/[^!-$&-~]+/g, encodeURIComponent)
}

/** Hot: a loop is faster than a regular expression for short texts. */
function isPlain(value: string): boolean {
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index)
    if (code < 0x21 || code > 0x7e || code === percent) return false
  }
  return true
}

const percent = 0x25
