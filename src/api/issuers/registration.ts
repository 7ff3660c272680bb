import { isRecord } from '#platform/json.ts'
import { OAuthError } from '../oauth/oauth-error.ts'
import type { OwnEndpoint } from '../operation.ts'
import type { IssuerFront } from './issuer-front.ts'

/** More than any program has. */
const redirectUrisMax = 100

/**
 * Registers any client (RFC 7591) as the one that the issuer knows: what it says of itself is not stored, and not
 * repeated, other than redirect URIs that are allowed.
 */
export function createRegistration({ clientId, mayReturnTo }: IssuerFront): OwnEndpoint['handler'] {
  return async ({ body }, reply) => {
    const asked = isRecord(body) ? body.redirect_uris : undefined
    if (!Array.isArray(asked) || asked.length === 0)
      throw new OAuthError('invalid_redirect_uri', 'redirect_uris must be a list of at least one URI.')
    if (asked.length > redirectUrisMax)
      throw new OAuthError('invalid_redirect_uri', `There must be at most ${redirectUrisMax} redirect_uris.`)
    const unknown = asked.findIndex((uri) => typeof uri !== 'string' || !mayReturnTo(uri))
    if (unknown !== -1)
      throw new OAuthError(
        'invalid_redirect_uri',
        `redirect_uris[${unknown}] is not among those that the operator of this gateway allows (issuers[].registration.redirectUris).`,
      )
    reply.code(201).header('Cache-Control', 'no-store')
    return {
      client_id: clientId,
      redirect_uris: asked,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    }
  }
}
