import type { FastifyInstance } from 'fastify'
import type { Keyring } from '../tokens/keyring.ts'
import { jwksMaxAgeS } from '../tokens/signing-keys.ts'
import { registerOwnRoute } from './own-route.ts'

export const jwksPath = '/.well-known/jwks.json'

/** The public signing keys (RFC 7517), including those that are announced for later. */
export function registerJwks(app: FastifyInstance, keyring: Keyring): void {
  registerOwnRoute(app, {
    path: jwksPath,
    methods: ['GET', 'HEAD'],
    handler: async (_request, reply) => {
      const jwks = keyring.jwks()
      reply.header('Cache-Control', `public, max-age=${jwksMaxAgeS}`)
      return jwks
    },
  })
}
