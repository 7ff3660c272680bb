import type { OAuthPath, PerOperation } from '#gateway/routes/own-operations.ts'
import { flag, type JsonSchema, objectSchema, count as seconds, text, texts } from '#platform/json-schema.ts'
import type { OperationDoc, ResponseDoc } from '../operation.ts'

const client = {
  client_id: { ...text, description: 'The API key; or by Authorization: Basic, with the secret key.' },
  client_secret: { ...text, description: 'A secret key of the same account.' },
}

const scope = { ...text, description: 'Names separated by spaces; absent = all that the key has.' }

/** RFC 6749 5.2. */
export const oauthError: JsonSchema = objectSchema({ error: text }, { error_description: text })

export const tokenRequest: JsonSchema = objectSchema(
  { grant_type: { enum: ['client_credentials', 'refresh_token'] } },
  { ...client, refresh_token: text, scope },
)

/** RFC 6749 5.1. */
export const grantedToken: JsonSchema = objectSchema(
  { access_token: text, token_type: { enum: ['Bearer', 'DPoP'] }, expires_in: seconds },
  { scope: text, refresh_token: text },
)

/** What introspection and revocation take. */
export const tokenQuestion: JsonSchema = objectSchema({ token: text }, { token_type_hint: text, ...client })

/** RFC 7662 2.2. */
export const tokenFacts: JsonSchema = {
  type: 'object',
  properties: { active: flag },
  required: ['active'],
}

/** RFC 8414 2. */
export const serverMetadata: JsonSchema = {
  type: 'object',
  properties: {
    issuer: text,
    token_endpoint: text,
    response_types_supported: texts,
  },
  required: ['issuer', 'token_endpoint', 'response_types_supported'],
}

function errorsOf(...statuses: readonly number[]): Readonly<Record<number, ResponseDoc>> {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: descriptions[status] ?? 'The request is refused.',
        schema: oauthError,
        ...(status === 401 && { headers: ['WWW-Authenticate'] }),
        ...((status === 429 || status === 503) && { headers: ['Retry-After'] }),
      },
    ]),
  )
}

const descriptions: Readonly<Record<number, string>> = {
  400: '`invalid_request`, or another error of RFC 6749 5.2.',
  401: '`invalid_client`: there is no valid client.',
  403: '`insufficient_scope`: the caller may not ask.',
  413: '`invalid_request`: the body is too large.',
  429: '`temporarily_unavailable`: too many requests, or wrong clients.',
  503: '`temporarily_unavailable`: the store is out of reach.',
}

const form = 'application/x-www-form-urlencoded'

/** The operations of OAuth 2. */
export const oauthOperations: PerOperation<OperationDoc, OAuthPath> = {
  '/api/v1/oauth/token': {
    POST: {
      id: 'getToken',
      summary: 'Exchanges both keys, or a refresh token, for an access token (RFC 6749 4.4 and 6).',
      bodyType: form,
      body: tokenRequest,
      responses: {
        200: {
          description: 'The token. There is a refresh token only where one was exchanged.',
          schema: grantedToken,
        },
      },
      errors: errorsOf(400, 401, 413, 429, 503),
      problems: [],
    },
  },
  '/api/v1/oauth/introspect': {
    POST: {
      id: 'introspectToken',
      summary: 'Says whether a token of the gateway is valid now, and which claims it has (RFC 7662).',
      description: 'For callers that `tokens.introspection` names, as a client or by any other credential.',
      bodyType: form,
      body: tokenQuestion,
      responses: {
        200: {
          description: '`active`, and the claims of the token if it is true.',
          schema: tokenFacts,
        },
      },
      errors: errorsOf(400, 401, 403, 413, 429, 503),
      problems: [],
    },
  },
  '/api/v1/oauth/revoke': {
    POST: {
      id: 'revokeToken',
      summary: 'Ends the session of an access or refresh token (RFC 7009). An unknown token is not an error.',
      description:
        'Anyone who holds the token may revoke it; if a client is named, the token must be its own.',
      bodyType: form,
      body: tokenQuestion,
      responses: { 200: { description: 'Ended.', schema: objectSchema({}) } },
      errors: errorsOf(400, 401, 413, 429, 503),
      problems: [],
    },
  },
}
