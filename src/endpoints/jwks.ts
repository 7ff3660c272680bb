import type { Keyring } from '../tokens/keyring.ts'
import { jwksMaxAgeS } from '../tokens/signing-keys.ts'
import type { OwnEndpoint } from './own-route.ts'

/** The public signing keys (RFC 7517), including those that are announced but not used yet. */
export function jwksEndpoint(keyring: Keyring): OwnEndpoint {
  return {
    handler: async (_request, reply) => {
      const jwks = keyring.jwks()
      reply.header('Cache-Control', `public, max-age=${jwksMaxAgeS}`)
      return jwks
    },
  }
}
