import type { ClaimPath, IssuerOptions, KeySource } from '#identity/issuers/issuer.ts'
import type { ConfigTree } from './schema/schema.ts'
import type { SecretLookup } from './secrets.ts'

type IssuerTree = ConfigTree['issuers'][number]

export function resolveIssuer(issuer: IssuerTree, lookup: SecretLookup): IssuerOptions {
  const { name, audience = [], algorithms, tokenType, jwks, subject, role, scopes, email, plan } = issuer
  return {
    name,
    issuer: issuer.issuer,
    audiences: typeof audience === 'string' ? [audience] : audience,
    require: Object.entries(issuer.require),
    algorithms,
    tokenType,
    keys: resolveKeySource(jwks, lookup),
    subject: toPath(subject),
    role: {
      claim: role.claim === undefined ? undefined : toPath(role.claim),
      map: Object.entries(role.map),
      default: role.default,
    },
    scopes: scopes === undefined ? undefined : toPath(scopes),
    email: email === undefined ? undefined : toPath(email),
    plan,
  }
}

function resolveKeySource(jwks: IssuerTree['jwks'], lookup: SecretLookup): KeySource {
  if (jwks?.url !== undefined) return { kind: 'url', url: jwks.url }
  if (jwks?.file !== undefined) return { kind: 'file', text: lookup.secret({ file: jwks.file }) }
  return { kind: 'discovery' }
}

function toPath(claim: string | readonly string[]): ClaimPath {
  return typeof claim === 'string' ? [claim] : claim
}
