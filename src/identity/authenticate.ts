import type { ErrorCode } from '#platform/errors/codes.ts'
import type { Access, SchemeName } from './access.ts'
import type { Credential, Credentials } from './credentials.ts'
import type { Authentication, Decision, DecisionScheme, Refusal, Scheme } from './decision.ts'
import type { ForeignScheme } from './issuers/foreign.ts'
import { accessCookieCarrier } from './keys/carriers.ts'

export interface Schemes extends Readonly<Record<SchemeName, Scheme>> {
  /** Bearer tokens of foreign issuers; undefined = none is configured. */
  readonly foreign?: ForeignScheme | undefined
}

type ProtectedAccess = Extract<Access, { readonly kind: 'protected' }>

/** The decision about a request that needs no credential. */
export const anonymousDecision: Decision = {
  kind: 'allowed',
  principal: undefined,
  scheme: undefined,
  holdsUntil: 0,
}

/** The refusal of a request that lacks a required credential. */
export const credentialsMissing = refused('credentials-missing', undefined)

/**
 * Identifies the caller. A route lists the schemes that it accepts. If authentication is optional, only a request
 * without a credential is anonymous, never one with a wrong credential.
 */
export function authenticate(
  access: Access,
  credentials: Credentials,
  schemes: Schemes,
): Decision | Promise<Decision> {
  if (access.kind === 'public') return anonymousDecision
  switch (credentials.kind) {
    case 'ambiguous':
      return refused('credentials-ambiguous', undefined)
    case 'none':
      return access.isOptional ? anonymousDecision : credentialsMissing
    case 'other':
      // Not one of our schemes: an optional route leaves it to the upstream.
      return access.isOptional ? anonymousDecision : refused('scheme-not-accepted', undefined)
    case 'secretKey':
    case 'bearer':
      return authenticateWith(access, schemes, credentials)
    default:
      return credentials satisfies never
  }
}

function authenticateWith(
  { schemes: accepted, issuers }: ProtectedAccess,
  schemes: Schemes,
  { kind, text, carrier }: Credential,
): Decision | Promise<Decision> {
  const isCookie = carrier === accessCookieCarrier
  if (!accepted.includes(kind)) return refused('scheme-not-accepted', kind)
  const authentication =
    // The access cookie holds a token of ours: a token of another issuer was put there by somebody else.
    issuers === undefined || kind !== 'bearer' || isCookie
      ? schemes[kind].authenticate(text)
      : authenticateBearer(text, issuers, schemes)
  const scheme = isCookie ? 'cookie' : kind
  return authentication instanceof Promise
    ? authentication.then((settled) => toDecision(scheme, settled))
    : toDecision(scheme, authentication)
}

/** Authenticates a token of ours, or of one of these issuers. */
function authenticateBearer(
  token: string,
  issuers: ReadonlySet<string>,
  { bearer, foreign }: Schemes,
): Authentication | Promise<Authentication> {
  return foreign?.authenticate(token, issuers) ?? bearer.authenticate(token)
}

function toDecision(scheme: DecisionScheme, authentication: Authentication): Decision {
  const { holdsUntil } = authentication
  if (authentication.kind === 'authenticated') {
    const { principal } = authentication
    return { kind: 'allowed', principal, scheme, holdsUntil, logged: '', loggedUpstream: undefined }
  }
  const { code, isMalformed, reason } = authentication
  return { kind: 'refused', code, scheme, isMalformed, holdsUntil, reason }
}

function refused(code: ErrorCode, scheme: DecisionScheme | undefined): Refusal {
  return { kind: 'refused', code, scheme, isMalformed: false, holdsUntil: 0, reason: undefined }
}
