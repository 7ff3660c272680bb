import { findFieldErrors } from '#accounts/account-input.ts'
import type { ExternalIdentity } from '#store/portal-access.ts'
import { isSubject } from '../issuers/subjects.ts'

/** The names of the claims that are read. */
export interface ClaimNames {
  readonly email: string
  readonly emailVerified: string
  readonly firstName: string
  readonly lastName: string
}

/** Somebody whom the provider has authenticated. */
export interface Person {
  readonly identity: ExternalIdentity
  /** undefined = none, or none that an account can have. */
  readonly email: string | undefined
  /** Whether the provider says that the e-mail is verified. */
  readonly isEmailVerified: boolean
  /** Empty = none, or none that an account can have. */
  readonly firstName: string
  readonly lastName: string
}

/** A person at the provider, and the verified e-mail. */
export type KnownPerson = Pick<Person, 'identity'> & { readonly email: string }

export type Claims = Readonly<Record<string, unknown>>

/** @returns undefined where the subject cannot be stored */
export function parsePerson(
  identity: { readonly issuer: string; readonly subject: unknown },
  claims: Claims,
  names: ClaimNames,
): Person | undefined {
  const { issuer, subject } = identity
  if (!isSubject(subject)) return undefined
  const email = claims[names.email]
  const isEmail = typeof email === 'string' && findFieldErrors({ email }).length === 0
  return {
    identity: { issuer, subject },
    email: isEmail ? email : undefined,
    isEmailVerified: isTrue(claims[names.emailVerified]),
    firstName: nameOf(claims[names.firstName]),
    lastName: nameOf(claims[names.lastName]),
  }
}

/** Whether the claims say that an e-mail is, or is not, verified. */
export function hasEmail(claims: Claims, names: ClaimNames): boolean {
  return claims[names.email] !== undefined && claims[names.emailVerified] !== undefined
}

/** Cognito sends `"true"` and Entra `"1"`, where OpenID Connect Core 1.0, 5.1, has a boolean. */
function isTrue(value: unknown): boolean {
  return value === true || value === 'true' || value === 1 || value === '1'
}

function nameOf(value: unknown): string {
  const isName = typeof value === 'string' && findFieldErrors({ firstName: value }).length === 0
  return isName ? value : ''
}
