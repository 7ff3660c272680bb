import type { RouteOptions } from '#gateway/routes/compile.ts'
import { takesTokens } from '#gateway/routes/route-urls.ts'
import { proofAlgorithms } from '#identity/possession/proof-keys.ts'
import type { OwnEndpoint } from '../own-route.ts'

export interface ServerMetadataOptions {
  /** Of the gateway's own tokens: what clients discover must have the same name (RFC 8414 3.3). */
  readonly issuer: string
  readonly publicOrigin: string
  readonly routes: readonly Pick<RouteOptions, 'auth' | 'authorization' | 'scopes'>[]
}

/** How long caches may keep it: it changes with the config. */
const maxAgeS = 300

/** The metadata of the gateway as an authorization server (RFC 8414 2). It has no authorization endpoint. */
export function serverMetadataEndpoint({ issuer, publicOrigin, routes }: ServerMetadataOptions): OwnEndpoint {
  const scopes = [...new Set(routes.filter(takesTokens).flatMap((route) => route.scopes ?? []))]
  const withSecret = ['client_secret_basic', 'client_secret_post']
  const metadata = {
    issuer,
    token_endpoint: `${publicOrigin}/api/v1/oauth/token`,
    jwks_uri: `${publicOrigin}/.well-known/jwks.json`,
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    response_types_supported: [],
    grant_types_supported: ['client_credentials', 'refresh_token'],
    // A refresh token needs no client beside it.
    token_endpoint_auth_methods_supported: [...withSecret, 'none'],
    introspection_endpoint: `${publicOrigin}/api/v1/oauth/introspect`,
    introspection_endpoint_auth_methods_supported: withSecret,
    revocation_endpoint: `${publicOrigin}/api/v1/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: [...withSecret, 'none'],
    // RFC 9449 5.1.
    dpop_signing_alg_values_supported: proofAlgorithms,
  }
  return {
    handler: async (_request, reply) => {
      reply.header('Cache-Control', `public, max-age=${maxAgeS}`)
      return metadata
    },
  }
}
