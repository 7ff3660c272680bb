import { objectSchema } from '../admin/schemas.ts'
import type { JsonSchema } from '../operation.ts'

/** The requests and responses of the endpoints outside the admin API. */

const text = { type: 'string' } as const
const tokenText = { type: 'string', minLength: 1 } as const

export const keyPair: JsonSchema = {
  type: 'object',
  properties: { SecretKey: tokenText, APIKey: tokenText },
  required: ['SecretKey', 'APIKey'],
}

export const issuedTokens: JsonSchema = objectSchema({
  Id: text,
  FirstName: text,
  LastName: text,
  Email: text,
  Role: text,
  IsVerified: { type: 'boolean' },
  JwtToken: text,
  RefreshToken: text,
})

export const refreshRequest: JsonSchema = {
  type: 'object',
  properties: { token: { ...tokenText, description: 'A refresh token; absent = the one in the cookie.' } },
}

export const refreshedTokens: JsonSchema = objectSchema({ jwtToken: text, refreshToken: text })

export const heldKey: JsonSchema = { type: 'object', properties: { key: text }, required: ['key'] }

const jwk = {
  type: 'object',
  properties: { kty: text, kid: text, alg: text, use: text },
  required: ['kty', 'kid', 'alg', 'use'],
  additionalProperties: text,
}

export const jwkSet: JsonSchema = objectSchema({ keys: { type: 'array', items: jwk } })

/** RFC 9728 2. */
export const resourceMetadata = objectSchema(
  {
    resource: { type: 'string', format: 'uri' },
    authorization_servers: { type: 'array', items: { type: 'string', format: 'uri' } },
    scopes_supported: { type: 'array', items: { type: 'string' } },
    bearer_methods_supported: { type: 'array', items: { type: 'string' } },
  },
  ['authorization_servers', 'scopes_supported'],
)
