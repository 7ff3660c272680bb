import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createProblem } from '#gateway/refusals/problem.ts'
import type { OAuthPath } from '#gateway/routes/own-paths.ts'
import type { GatedRoute } from '#gateway/routes/route.ts'
import { arrivalOf, visitorOf } from '#gateway/server/arrival.ts'
import { authorize } from '#identity/authorize.ts'
import { tokenCredential } from '#identity/credentials.ts'
import type { ClientTokens } from '#identity/tokens/client-tokens.ts'
import { payloadOf, tokenMaxAgeS } from '#identity/tokens/jwt.ts'
import { type KeyPairOwner, narrowed } from '#identity/tokens/session-start.ts'
import type { Sessions } from '#identity/tokens/sessions.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { formOf } from '#platform/secrets/format.ts'
import { parseKey } from '#platform/secrets/keys.ts'
import { type AdmissionOptions, adminRoute, createAdmission } from '../admin/admission.ts'
import { type OwnEndpoint, registerOwnRoute } from '../operation.ts'
import { applyReplyKeepAlive, onResponseSent } from '../reply.ts'
import { createFailedKeyPairCount, type FailedKeyPairOptions } from '../tokens.ts'
import { translateError } from '../validate.ts'
import { type Client, createClientReader } from './client.ts'
import { acceptFormsOnly, type Parameters, readParameters, readScopes, required } from './form-body.ts'
import { OAuthError, toOAuthProblem } from './oauth-error.ts'

export interface OAuthOptions extends FailedKeyPairOptions {
  readonly sessions: Pick<Sessions, 'refresh' | 'revoke'>
  readonly clientTokens: ClientTokens
  readonly metrics: Metrics
  /** Of the gateway's own tokens. */
  readonly issuer: string
  /** Who may ask about tokens. */
  readonly introspection: { readonly roles: readonly string[]; readonly scopes: readonly string[] }
  readonly publicOrigin: string
  /** `cors.origins`. */
  readonly origins: readonly string[]
  readonly requestTimeoutMs: number
  readonly admin: Omit<AdmissionOptions, 'publicOrigin' | 'limiter' | 'failures' | 'metrics'>
}

const basicChallenge = 'Basic realm="gatehouse"'

/**
 * OAuth 2 for clients that know no gateway: the same keys and tokens in the standard form. Every error is one of RFC 6749
 * 5.2, whatever its cause.
 */
export function registerOAuth(scope: FastifyInstance, options: OAuthOptions): void {
  acceptFormsOnly(scope, options.requestTimeoutMs)
  scope.setErrorHandler<FastifyError>((error, request, reply) => {
    if (reply.sent) return reply
    const arrival = arrivalOf(request.raw)
    const refusal = translateError(error)
    const { headers } = createProblem(arrival, refusal)
    const { status, body } = toOAuthProblem(refusal, arrival.outcome.access !== undefined)
    applyReplyKeepAlive(request, reply)
    const { 'WWW-Authenticate': own = [], ...others } = headers
    const challenges = [...(status === 401 ? [basicChallenge] : []), ...(arrival.outcome.access ? own : [])]
    return reply
      .code(status)
      .headers({ ...others, 'Content-Type': 'application/json' })
      .headers(challenges.length > 0 ? { 'WWW-Authenticate': challenges } : {})
      .send(JSON.stringify(body))
  })
  for (const [path, endpoint] of Object.entries(createEndpoints(options)))
    registerOwnRoute(scope, path, endpoint)
}

function createEndpoints(options: OAuthOptions): Readonly<Record<OAuthPath, OwnEndpoint>> {
  const { sessions, clientTokens, metrics, introspection, issuer, admin } = options
  const readClient = createClientReader(options)
  const countFailed = createFailedKeyPairCount(options)
  const { authenticator } = admin
  const introspectionRoute: GatedRoute = {
    ...adminRoute,
    access: {
      ...adminRoute.access,
      roles: new Set(introspection.roles),
      scopes: introspection.scopes.length > 0 ? introspection.scopes : undefined,
    },
  }
  const admission = createAdmission({ ...options, ...admin }, introspectionRoute)

  function ownerOf(request: FastifyRequest, { apiKey, secretKey }: Client): Promise<KeyPairOwner> {
    if (secretKey === undefined)
      throw new GatehouseError('credentials-missing', { detail: 'client_secret is missing.' })
    return clientTokens
      .findOwner({ apiKey, secretKey }, visitorOf(request.raw))
      .catch((error: unknown) => countFailed(request, error))
  }

  async function token(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const parameters = readParameters(request)
    const grantType = required(parameters, 'grant_type')
    reply.header('Cache-Control', 'no-store')
    switch (grantType) {
      case 'client_credentials':
        return grant(request, parameters)
      case 'refresh_token':
        return refresh(request, reply, parameters)
      default:
        throw new OAuthError(
          'unsupported_grant_type',
          'grant_type must be client_credentials or refresh_token.',
        )
    }
  }

  async function grant(request: FastifyRequest, parameters: Parameters): Promise<unknown> {
    const { apiKey, secretKey } = readClient(request, parameters) ?? {}
    if (apiKey === undefined || secretKey === undefined)
      throw new GatehouseError('credentials-missing', { detail: clientMissing })
    const granted = await clientTokens
      .grant({ apiKey, secretKey }, visitorOf(request.raw), readScopes(parameters))
      .catch((error: unknown) => countFailed(request, error))
    metrics.tokensIssued.inc({ grant: 'keys' })
    return tokenResponse(granted.accessToken)
  }

  /** Whoever names a client must be the one whose token it is (RFC 6749 6), before the token is spent. */
  async function refresh(
    request: FastifyRequest,
    reply: FastifyReply,
    parameters: Parameters,
  ): Promise<unknown> {
    const refreshToken = required(parameters, 'refresh_token')
    const client = readClient(request, parameters)
    const scopes = readScopes(parameters)
    const clientAccountId = await accountIdOfClient(request, client)
    if (client || scopes) {
      const session = await clientTokens.inspect(refreshToken)
      if (session && client && session.accountId !== clientAccountId)
        throw new OAuthError('invalid_grant', 'The refresh token is of another client.')
      if (session) narrowed({ scopes: session.scopes, validUntil: session.endsAt }, scopes)
    }
    const issued = await sessions.refresh(refreshToken, visitorOf(request.raw), { scopes })
    metrics.tokensIssued.inc({ grant: 'refresh' })
    onResponseSent(reply.raw, issued.acknowledge)
    return { ...tokenResponse(issued.accessToken), refresh_token: issued.refreshToken }
  }

  /** A client without a secret is named by its API key alone, which is compared with nothing else. */
  async function accountIdOfClient(
    request: FastifyRequest,
    client: Client | undefined,
  ): Promise<string | undefined> {
    if (client === undefined) return undefined
    if (client.secretKey === undefined) return parseKey('apiKey', client.apiKey)?.accountId
    return (await ownerOf(request, client)).account.id
  }

  /** @throws GatehouseError if the caller may not ask */
  async function admitIntrospection(request: FastifyRequest, parameters: Parameters): Promise<void> {
    const client = readClient(request, parameters)
    if (client === undefined) return admission.admit(request)
    const { account, key } = await ownerOf(request, client)
    const code = authorize(introspectionRoute.access, {
      role: account.role,
      scopes: key.scopes,
      issuer: undefined,
      profile: account,
    })
    if (code !== undefined)
      throw new OAuthError('insufficient_scope', 'This client may not ask about tokens.', code)
  }

  async function introspect(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const parameters = readParameters(request)
    await admitIntrospection(request, parameters)
    const text = required(parameters, 'token')
    reply.header('Cache-Control', 'no-store')
    return (await describeAccessToken(text)) ?? (await describeRefreshToken(text)) ?? { active: false }
  }

  /** The account and session of an access token that would pass now. */
  async function findAccessToken(text: string) {
    if (formOf(text) !== 'jwt') return undefined
    const { access } = introspectionRoute
    const decision = await authenticator.decide(access, tokenCredential(text), performance.now())
    return decision.kind === 'allowed' ? decision.principal : undefined
  }

  async function describeAccessToken(text: string): Promise<object | undefined> {
    const principal = await findAccessToken(text)
    return principal && { active: true, token_type: 'Bearer', ...payloadOf(text) }
  }

  async function describeRefreshToken(text: string): Promise<object | undefined> {
    const session = await clientTokens.inspect(text)
    if (!session?.isCurrent) return undefined
    const { accountId, scopes, rotatedAt, endsAt } = session
    return {
      active: true,
      iss: issuer,
      sub: accountId,
      client_id: accountId,
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      iat: Math.floor(rotatedAt / 1_000),
      exp: Math.floor(endsAt / 1_000),
    }
  }

  async function revoke(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const parameters = readParameters(request)
    const text = required(parameters, 'token')
    const client = readClient(request, parameters)
    const clientAccountId = await accountIdOfClient(request, client)
    const form = formOf(text)
    if (form === 'secretKey' || form === 'apiKey')
      throw new OAuthError('unsupported_token_type', 'This is a key: POST /api/v1/keys/revoke ends it.')
    const principal = await findAccessToken(text)
    const accountId = principal?.accountId ?? (await clientTokens.inspect(text))?.accountId
    if (client && accountId !== undefined && accountId !== clientAccountId)
      throw new OAuthError('unauthorized_client', 'The token is of another client.')
    if (principal?.sessionId !== undefined) await clientTokens.end(principal.sessionId)
    else await sessions.revoke(text)
    reply.header('Cache-Control', 'no-store')
    return {}
  }

  return {
    '/api/v1/oauth/token': { handler: token },
    '/api/v1/oauth/introspect': { handler: introspect },
    '/api/v1/oauth/revoke': { handler: revoke },
  }
}

const clientMissing =
  'Send the API key as client_id and a secret key as client_secret, by Authorization: Basic or in the body.'

/** RFC 6749 5.1: the scopes are told wherever the token is limited. */
function tokenResponse(accessToken: string): object {
  const { scope } = payloadOf(accessToken) ?? {}
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: tokenMaxAgeS(accessToken),
    ...(typeof scope === 'string' && { scope }),
  }
}
