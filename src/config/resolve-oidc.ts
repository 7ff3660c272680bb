import type { OidcOptions } from '#identity/oidc/provider.ts'
import type { ConfigTree } from './schema/schema.ts'
import type { SecretLookup } from './secrets.ts'

export function resolveOidc(
  {
    issuer,
    clientId,
    clientSecret,
    provision,
    scopes,
    label,
    passwords,
    claims,
  }: NonNullable<ConfigTree['portal']['oidc']>,
  lookup: SecretLookup,
): OidcOptions {
  return {
    issuer,
    clientId,
    clientSecret: clientSecret && lookup.secret(clientSecret),
    provision: provision === noProvision ? undefined : provision,
    scopes,
    label,
    acceptsPasswords: passwords,
    claims,
  }
}

/** The value of `provision` with which no account is made. */
export const noProvision = 'none'
