import type { PerOperation, PublicPath } from '#gateway/routes/own-operations.ts'
import { errorDefinitions } from '#platform/errors/codes.ts'
import { flag, type JsonSchema, objectSchema, text, texts } from '#platform/json-schema.ts'
import type { OperationDoc } from '../operation.ts'
import { oauthOperations, serverMetadata as serverMetadataSchema } from './oauth-operations.ts'

/** The schema of every error response (RFC 9457). */
export const problemSchema: JsonSchema = {
  type: 'object',
  properties: {
    type: { type: 'string', pattern: '^urn:gatehouse:' },
    title: text,
    status: { type: 'integer' },
    code: { enum: Object.keys(errorDefinitions) },
    detail: text,
    requestId: text,
    errors: {
      type: 'array',
      items: objectSchema({ field: text, message: text }),
    },
  },
  required: ['type', 'title', 'status', 'code', 'requestId'],
  additionalProperties: false,
}

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
  IsVerified: flag,
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

const uri = { ...text, format: 'uri' } as const

/** RFC 9728 2. */
export const resourceMetadata = objectSchema(
  { resource: uri, bearer_methods_supported: texts, dpop_signing_alg_values_supported: texts },
  { authorization_servers: { type: 'array', items: uri }, scopes_supported: texts },
)

const issue: OperationDoc = {
  id: 'issueTokens',
  summary: 'Exchanges both keys of an account for an access token, and a refresh token in body and cookie.',
  body: keyPair,
  responses: { 200: { description: 'The tokens.', schema: issuedTokens, headers: ['Set-Cookie'] } },
  problems: [
    'request-invalid',
    'credentials-invalid',
    'secret-key-expired',
    'address-forbidden',
    'account-disabled',
    'rate-limited',
    'too-many-failures',
    'store-unavailable',
  ],
}

const refresh: OperationDoc = {
  id: 'refreshTokens',
  summary: 'Exchanges a refresh token for a new one and a new access token.',
  description:
    'For a short grace period, the token that was just replaced returns the same new token again. An older one ends the session.',
  body: refreshRequest,
  isBodyOptional: true,
  responses: {
    200: {
      description: 'The tokens.',
      schema: refreshedTokens,
      headers: ['Set-Cookie'],
    },
  },
  problems: [
    ...([
      'request-invalid',
      'credentials-ambiguous',
      'refresh-token-invalid',
      'refresh-token-expired',
    ] as const),
    ...(['refresh-token-reused', 'session-revoked', 'cross-site-refresh', 'store-unavailable'] as const),
  ],
}

const revoke: OperationDoc = {
  id: 'revokeTokens',
  summary:
    'Revokes the session of a refresh token, with its access tokens. An unknown token is not an error.',
  body: refreshRequest,
  isBodyOptional: true,
  responses: { 200: { description: 'Revoked.', schema: objectSchema({}), headers: ['Set-Cookie'] } },
  problems: ['request-invalid', 'credentials-ambiguous', 'cross-site-refresh', 'store-unavailable'],
}

const revokeKey: OperationDoc = {
  id: 'revokeHeldKey',
  summary:
    'Revokes a leaked key: whoever holds a key can revoke it. The response does not say whether the key existed.',
  description:
    'A secret key is revoked, and its sessions with it; an API key is replaced. Every call counts towards the failure limit.',
  body: heldKey,
  responses: { 200: { description: 'If it was a key, it no longer works.', schema: objectSchema({}) } },
  problems: ['request-invalid', 'too-many-failures', 'store-unavailable'],
}

const jwks: OperationDoc = {
  id: 'getJwks',
  summary: 'The public keys that access tokens are verified with (RFC 7517).',
  responses: {
    200: {
      description: 'The keys, including those announced but not used yet.',
      schema: jwkSet,
      headers: ['Cache-Control'],
    },
  },
  problems: ['store-unavailable'],
}

const serverMetadata: OperationDoc = {
  id: 'getServerMetadata',
  summary: 'Where the endpoints of OAuth 2 are, and what they take (RFC 8414).',
  responses: {
    200: {
      description: 'The metadata.',
      schema: serverMetadataSchema,
      headers: ['Cache-Control'],
    },
  },
  problems: [],
}

const showResource: OperationDoc = {
  id: 'getResourceMetadata',
  summary: 'Whose tokens the route `/` accepts (RFC 9728).',
  description: 'Only where there is such a route that takes bearer tokens.',
  responses: {
    200: { description: 'The metadata.', schema: resourceMetadata, headers: ['Cache-Control'] },
  },
  problems: ['route-not-found'],
}

const openApi: OperationDoc = {
  id: 'getOpenApi',
  summary: 'This document.',
  responses: {
    200: { description: 'The document.', schema: { type: 'object' }, headers: ['Cache-Control', 'ETag'] },
    304: { description: 'Not modified.' },
  },
  problems: [],
}

/** The requests and responses of the endpoints outside the admin API. */
export const publicOperations: PerOperation<OperationDoc, PublicPath> = {
  '/api/v1/accounts/access-token': { POST: issue },
  '/api/v1/accounts/refresh-token': { POST: refresh },
  '/api/v1/accounts/revoke-token': { POST: revoke },
  ...oauthOperations,
  '/api/v1/keys/revoke': { POST: revokeKey },
  '/.well-known/jwks.json': { GET: jwks },
  '/.well-known/oauth-authorization-server': { GET: serverMetadata },
  '/.well-known/oauth-protected-resource': { GET: showResource },
  '/.well-known/oauth-protected-resource/:path': {
    GET: {
      ...showResource,
      id: 'getResourceMetadataOfPath',
      summary: 'Whose tokens the route of a path accepts (RFC 9728). The path may have several segments.',
    },
  },
  '/api/v1/openapi.json': { GET: openApi },
}
