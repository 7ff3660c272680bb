import type { Access, ProtectedAccess, SchemeName } from '#identity/access.ts'
import type { Carriers } from '#identity/carriers.ts'
import { proofAlgorithms } from '#identity/issuers/public-keys.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'

const realm = 'realm="gatehouse"'

/** Error codes of RFC 6750 3.1 and RFC 9449 7.1; a request without credentials gets none. */
const bearerErrors: Partial<Record<ErrorCode, string>> = {
  'credentials-ambiguous': 'error="invalid_request", error_description="more than one credential"',
  'token-invalid': 'error="invalid_token", error_description="the token is not valid"',
  'token-expired': 'error="invalid_token", error_description="the token has expired"',
  'token-revoked': 'error="invalid_token", error_description="the token has been revoked"',
  'certificate-required': 'error="invalid_token", error_description="the token is bound to a certificate"',
  'proof-missing': 'error="invalid_token", error_description="the token is bound to a key"',
  'proof-invalid': 'error="invalid_dpop_proof", error_description="the proof is not valid"',
  'proof-nonce-required': 'error="use_dpop_nonce", error_description="the proof needs a nonce"',
  'role-forbidden': 'error="insufficient_scope", error_description="the role is not allowed"',
  'scope-forbidden': 'error="insufficient_scope", error_description="the token does not have all scopes"',
}

/** What the challenges of a response depend on. */
export interface ChallengeContext {
  readonly access: Access | undefined
  readonly carriers: Carriers
  /** Whether the request is for a container registry: see isRegistryPath. */
  readonly isRegistry: boolean
  /** Whether the credential came as `Authorization: DPoP`. */
  readonly isProof: boolean
}

/**
 * Whether a path belongs to a container registry (OCI distribution, at the root of a host) that keys may be sent to as
 * passwords. Its clients take `Bearer` for the address of a token service, wherever it is in the list.
 */
export function isRegistryPath(path: string | undefined, { basic }: Carriers): boolean {
  return basic && path !== undefined && (path === '/v2' || path.startsWith('/v2/'))
}

/**
 * Values of WWW-Authenticate (RFC 9110 11.6.1): one for each accepted scheme. Basic is included where keys may come in
 * it, as git and others send no password unasked; and it precedes Bearer, as some clients take the first scheme that
 * they know. Elsewhere a Bearer that names metadata comes first, as MCP clients read only the first challenge.
 */
export function challenges(
  code: ErrorCode,
  { access, carriers, isRegistry, isProof }: ChallengeContext,
): string[] {
  const challengeOf = isProof || proofCodes.has(code) ? proofChallengeOf : usualChallengeOf
  if (access?.kind !== 'protected') return ownSchemes(code).map((scheme) => challengeOf(scheme, code))
  const scope = code === 'scope-forbidden' && access.scopes ? `, scope="${access.scopes.join(' ')}"` : ''
  // RFC 9728 5.1: where the client may get a token.
  const metadata = access.metadataUrl === undefined ? '' : `, resource_metadata="${access.metadataUrl}"`
  if (access.leavesAuthorization) return [challengeOf(keyHeaderScheme(access, carriers), code)]
  const isBasic = carriers.basic && access.schemes.includes('secretKey')
  const all = access.schemes.flatMap((scheme) => {
    if (scheme === 'secretKey')
      return isBasic ? [challengeOf(scheme, code), `Basic ${realm}`] : challengeOf(scheme, code)
    // A client that has sent a token is not a registry client.
    const isHidden = isRegistry && isBasic && bearerErrors[code] === undefined
    return isHidden ? [] : challengeOf(scheme, code) + scope + metadata
  })
  return metadata === '' || isBasic ? all : all.toReversed()
}

/**
 * If Authorization belongs to the backend, no challenge asks for it: clients would send the wrong credential there. A
 * 401 must have a challenge (RFC 9110 15.5.2), though: the scheme of tokens stands for the access cookie.
 */
function keyHeaderScheme({ schemes }: ProtectedAccess, { headers }: Carriers): SchemeName {
  return schemes.includes('secretKey') && headers.length > 0 ? 'secretKey' : 'bearer'
}

/** Sent to a client that uses proofs, or whose token needs one; any other client can only use `Bearer`. */
function proofChallengeOf(scheme: SchemeName, code: ErrorCode): string {
  const [, ...parameters] = usualChallengeOf(scheme, code).split(' ')
  return scheme === 'secretKey'
    ? usualChallengeOf(scheme, code)
    : `DPoP ${parameters.join(' ')}, algs="${proofAlgorithms.join(' ')}"`
}

const proofCodes: ReadonlySet<ErrorCode> = new Set(['proof-missing', 'proof-invalid', 'proof-nonce-required'])

function usualChallengeOf(scheme: SchemeName, code: ErrorCode): string {
  if (scheme === 'secretKey') return `SecretKey ${realm}`
  const error = bearerErrors[code]
  return error === undefined ? `Bearer ${realm}` : `Bearer ${realm}, ${error}`
}

/** Refusals of the endpoints that take keys; all others take an access token. */
const keyCodes: ReadonlySet<ErrorCode> = new Set(['credentials-invalid', 'secret-key-expired'])

/** The schemes of the gateway's own endpoints: keys, or tokens. */
function ownSchemes(code: ErrorCode): readonly SchemeName[] {
  return keyCodes.has(code) ? ['secretKey'] : ['bearer']
}
