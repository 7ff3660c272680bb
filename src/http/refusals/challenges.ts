import type { Carriers } from '../../auth/carriers.ts'
import type { ErrorCode } from '../../errors/codes.ts'
import type { Access, SchemeName } from '../../routes/route.ts'

const realm = 'realm="gatehouse"'

/** Error codes of RFC 6750 3.1; a request without credentials gets none. */
const bearerErrors: Partial<Record<ErrorCode, string>> = {
  'credentials-ambiguous': 'error="invalid_request", error_description="more than one credential"',
  'token-invalid': 'error="invalid_token", error_description="the token is not valid"',
  'token-expired': 'error="invalid_token", error_description="the token has expired"',
  'token-revoked': 'error="invalid_token", error_description="the token has been revoked"',
  'role-forbidden': 'error="insufficient_scope", error_description="the role is not allowed"',
  'scope-forbidden': 'error="insufficient_scope", error_description="the token does not have all scopes"',
}

/**
 * Values of WWW-Authenticate (RFC 9110 11.6.1): one for each accepted scheme. Basic is among them where keys may come in
 * it, as git and others send no password unless they are asked.
 */
export function challenges(code: ErrorCode, access: Access | undefined, carriers: Carriers): string[] {
  if (access?.kind !== 'protected') return ownSchemes(code).map((scheme) => challengeOf(scheme, code))
  const scope = code === 'scope-forbidden' && access.scopes ? `, scope="${access.scopes.join(' ')}"` : ''
  // RFC 9728 5.1: where the client may get a token.
  const metadata = access.metadataUrl === undefined ? '' : `, resource_metadata="${access.metadataUrl}"`
  const values = access.schemes.map((scheme) =>
    scheme === 'bearer' ? challengeOf(scheme, code) + scope + metadata : challengeOf(scheme, code),
  )
  return carriers.basic && access.schemes.includes('secretKey') ? [...values, `Basic ${realm}`] : values
}

function challengeOf(scheme: SchemeName, code: ErrorCode): string {
  if (scheme === 'secretKey') return `SecretKey ${realm}`
  const error = bearerErrors[code]
  return error === undefined ? `Bearer ${realm}` : `Bearer ${realm}, ${error}`
}

/** The schemes of the built-in endpoints: the keys, or the tokens. */
function ownSchemes(code: ErrorCode): readonly SchemeName[] {
  return code === 'credentials-invalid' ? ['secretKey'] : ['bearer']
}
