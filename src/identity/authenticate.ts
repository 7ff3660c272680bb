import type { ErrorCode } from '#platform/errors/codes.ts'
import type { Access, ProtectedAccess, SchemeName } from './access.ts'
import { accessCookieCarrier, bearerCarrier, certificateCarrier, proofCarrier } from './carriers.ts'
import type { Credential, Credentials } from './credentials.ts'
import {
  type Authentication,
  type Decision,
  type DecisionScheme,
  type Refusal,
  refusedCredential,
  type Scheme,
} from './decision.ts'
import type { ForeignScheme } from './issuers/foreign.ts'

export interface Schemes extends Readonly<Record<SchemeName, Scheme>> {
  /** Bearer tokens of foreign issuers; undefined = none is configured. */
  readonly foreign?: ForeignScheme | undefined
}

/** The decision about a request that needs no credential. */
export const anonymousDecision: Decision = {
  kind: 'allowed',
  principal: undefined,
  scheme: undefined,
  confirmation: undefined,
  holdsUntil: 0,
  kept: undefined,
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
  if (issuers !== undefined && mayBeKeyOrToken(kind, carrier)) {
    const knowledge = schemes.foreign?.knowledgeOf(text, issuers)
    const asToken = () => settle(bearerToken, authenticateBearer(text, issuers, schemes))
    // A token that its issuer has just called active is not one of our keys.
    if (knowledge === 'active' || (knowledge !== undefined && !accepted.includes(kind))) return asToken()
    if (knowledge !== undefined) return keyOrToken(schemes.secretKey.authenticate(text), asToken)
  }
  if (!accepted.includes(kind)) return refused('scheme-not-accepted', kind)
  if (carrier === certificateCarrier && kind === 'secretKey') return authenticateCertificate(schemes, text)
  const authentication =
    // The access cookie holds a token of ours: a token of another issuer was put there by somebody else.
    issuers === undefined || kind !== 'bearer' || isCookie
      ? schemes[kind].authenticate(text)
      : authenticateBearer(text, issuers, schemes)
  const sent = {
    scheme: isCookie ? 'cookie' : kind,
    cameAsDpop: kind === 'bearer' && carrier === proofCarrier,
  } as const
  return settle(sent, authentication)
}

function settle(
  sent: Sent,
  authentication: Authentication | Promise<Authentication>,
): Decision | Promise<Decision> {
  return authentication instanceof Promise
    ? authentication.then((settled) => toDecision(sent, settled))
    : toDecision(sent, authentication)
}

/** Whether a credential in Authorization: Bearer may be a key or a token, as its form does not show which. */
export function mayBeKeyOrToken(kind: SchemeName, carrier: Credential['carrier']): boolean {
  return kind === 'secretKey' && carrier === bearerCarrier
}

const bearerToken: Sent = { scheme: 'bearer', cameAsDpop: false }

/** A key that was made elsewhere, or else a token that its issuer has to be asked about. */
function keyOrToken(
  asKey: Authentication | Promise<Authentication>,
  asToken: () => Decision | Promise<Decision>,
): Decision | Promise<Decision> {
  const decide = (authentication: Authentication) =>
    authentication.kind === 'refused' && authentication.code === 'secret-key-invalid'
      ? asToken()
      : toDecision({ scheme: 'secretKey', cameAsDpop: false }, authentication)
  return asKey instanceof Promise ? asKey.then(decide) : decide(asKey)
}

/** Authenticates a token of ours, or of one of these issuers. */
function authenticateBearer(
  token: string,
  issuers: ReadonlySet<string>,
  { bearer, foreign }: Schemes,
): Authentication | Promise<Authentication> {
  return foreign?.authenticate(token, issuers) ?? bearer.authenticate(token)
}

/** An unknown certificate is not counted as a guess at a key: it was issued for something else. */
function authenticateCertificate({ secretKey }: Schemes, thumbprint: string): Decision | Promise<Decision> {
  const toCertificateDecision = (authentication: Authentication): Decision => {
    const decision = toDecision({ scheme: 'secretKey', cameAsDpop: false }, authentication)
    if (decision.kind === 'allowed' || decision.code !== 'secret-key-invalid') return decision
    return refused('certificate-unknown', 'secretKey', `no key is the certificate ${thumbprint}`)
  }
  const authentication = secretKey.authenticateDigest?.(Buffer.from(thumbprint, 'base64url'))
  if (authentication === undefined) return refused('certificate-unknown', 'secretKey')
  return authentication instanceof Promise
    ? authentication.then(toCertificateDecision)
    : toCertificateDecision(authentication)
}

/** How a credential came. */
interface Sent {
  readonly scheme: DecisionScheme
  /** Whether it came as `Authorization: DPoP`. */
  readonly cameAsDpop: boolean
}

/** A token that is bound to a key comes by `DPoP`, and no other token does (RFC 9449 7.1, 7.2). */
function toDecision({ scheme, cameAsDpop }: Sent, authentication: Authentication): Decision {
  const { holdsUntil } = authentication
  if (authentication.kind === 'authenticated') {
    const { principal, confirmation } = authentication
    const isBound = confirmation?.jkt !== undefined
    if (isBound && !cameAsDpop)
      return refused('proof-missing', scheme, 'the token is bound to a key (cnf.jkt)')
    if (cameAsDpop && !isBound) return refused('token-invalid', scheme, 'Authorization: DPoP, but no cnf.jkt')
    return {
      kind: 'allowed',
      principal,
      scheme,
      confirmation,
      holdsUntil,
      kept: undefined,
    }
  }
  return { ...authentication, scheme, holdsUntil }
}

function refused(code: ErrorCode, scheme: DecisionScheme | undefined, reason?: string): Refusal {
  return { ...refusedCredential(code, { reason }), scheme }
}
