import type { ErrorCode } from '../errors/codes.ts'
import type { Access, SchemeName } from '../routes/route.ts'
import type { Credentials } from './credentials.ts'
import type { Decision, Refusal } from './decision.ts'
import type { Authentication, Scheme } from './scheme.ts'

export type Schemes = Readonly<Record<SchemeName, Scheme>>

const anonymous: Decision = { kind: 'allowed', principal: undefined, scheme: undefined, holdsUntil: 0 }

/**
 * Identifies the caller. A route lists the schemes it accepts; where authentication is optional, only a request without
 * a credential is anonymous, never one with a wrong credential.
 */
export function authenticate(
  access: Access,
  credentials: Credentials,
  schemes: Schemes,
): Decision | Promise<Decision> {
  if (access.kind === 'public') return anonymous
  switch (credentials.kind) {
    case 'ambiguous':
      return refused('credentials-ambiguous', undefined)
    case 'none':
      return access.isOptional ? anonymous : refused('credentials-missing', undefined)
    case 'other':
      // Not one of our schemes: an optional route leaves it to the upstream.
      return access.isOptional ? anonymous : refused('scheme-not-accepted', undefined)
    case 'secretKey':
    case 'bearer':
      return authenticateWith(access.schemes, schemes[credentials.kind], credentials.text)
    default:
      return credentials satisfies never
  }
}

function authenticateWith(
  accepted: readonly SchemeName[],
  scheme: Scheme,
  credential: string,
): Decision | Promise<Decision> {
  if (!accepted.includes(scheme.name)) return refused('scheme-not-accepted', scheme.name)
  const authentication = scheme.authenticate(credential)
  return authentication instanceof Promise
    ? authentication.then((settled) => toDecision(scheme.name, settled))
    : toDecision(scheme.name, authentication)
}

function toDecision(scheme: SchemeName, authentication: Authentication): Decision {
  const { holdsUntil } = authentication
  if (authentication.kind === 'authenticated') {
    return { kind: 'allowed', principal: authentication.principal, scheme, holdsUntil }
  }
  const { code, isMalformed, reason } = authentication
  return { kind: 'refused', code, scheme, isMalformed, holdsUntil, reason }
}

function refused(code: ErrorCode, scheme: SchemeName | undefined): Refusal {
  return { kind: 'refused', code, scheme, isMalformed: false, holdsUntil: 0, reason: undefined }
}
