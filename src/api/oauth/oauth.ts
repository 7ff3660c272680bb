import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { OAuthPath } from '#gateway/routes/own-operations.ts'
import { authorize } from '#identity/authorize.ts'
import { tokenCredential } from '#identity/credentials.ts'
import type { ClientTokens } from '#identity/tokens/client-tokens.ts'
import { payloadOf } from '#identity/tokens/jwt.ts'
import type { Sessions } from '#identity/tokens/sessions.ts'
import { formOf } from '#platform/secrets/key-format.ts'
import { monotonicClock } from '#platform/time.ts'
import {
  createAdmission,
  type EndpointGate,
  type IntrospectionRight,
  introspectionRoute,
} from '../admission.ts'
import { type OwnEndpoint, registerOwnRoute } from '../own-endpoint.ts'
import { answerOAuthErrors, OAuthError } from './oauth-error.ts'
import {
  acceptFormsOnly,
  type ClientsOptions,
  createClients,
  type Parameters,
  readParameters,
  required,
} from './oauth-request.ts'
import { createTokenEndpoint, type TokenEndpointOptions, tokenTypeOf } from './token-endpoint.ts'

export interface OAuthOptions extends ClientsOptions, TokenEndpointOptions {
  readonly sessions: Pick<Sessions, 'refresh' | 'revoke'>
  readonly clientTokens: ClientTokens
  /** The issuer of the gateway's own tokens. */
  readonly issuer: string
  /** Who may introspect tokens. */
  readonly introspection: IntrospectionRight
  readonly requestTimeoutMs: number
  readonly gate: EndpointGate
}

const basicChallenge = 'Basic realm="gatehouse"'

/** OAuth 2: the same keys and tokens in the standard form. Every error is one of RFC 6749 5.2, whatever its cause. */
export function registerOAuth(scope: FastifyInstance, options: OAuthOptions): void {
  acceptFormsOnly(scope, options.requestTimeoutMs)
  answerOAuthErrors(scope, { challenge: basicChallenge })
  for (const [path, endpoint] of Object.entries(createEndpoints(options)))
    registerOwnRoute(scope, path, endpoint)
}

function createEndpoints(options: OAuthOptions): Readonly<Record<OAuthPath, OwnEndpoint>> {
  const { sessions, clientTokens, introspection, issuer } = options
  const clients = createClients(options)
  const { authenticator } = options.gate
  const route = introspectionRoute(introspection)
  const admission = createAdmission(options.gate, options.publicOrigin, route)

  /** @throws GatehouseError if the caller may not introspect tokens */
  async function admitIntrospection(request: FastifyRequest, parameters: Parameters): Promise<void> {
    const client = clients.read(request, parameters)
    if (client === undefined) return admission.admit(request)
    const { account, key } = await clients.ownerOf(request, client)
    const code = authorize(route.access, {
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

  /** Who would be admitted with this access token now; undefined = nobody. */
  async function findAccessToken(text: string) {
    if (formOf(text) !== 'jwt') return undefined
    const { access } = route
    const decision = await authenticator.decide(access, tokenCredential(text), monotonicClock())
    return decision.kind === 'allowed' ? decision.principal : undefined
  }

  async function describeAccessToken(text: string): Promise<object | undefined> {
    const principal = await findAccessToken(text)
    if (!principal) return undefined
    const claims = payloadOf(text)
    return { ...claims, active: true, token_type: tokenTypeOf(claims) }
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
    const client = clients.read(request, parameters)
    const clientAccountId = await clients.accountIdOf(request, client)
    const form = formOf(text)
    if (form === 'secretKey' || form === 'apiKey')
      throw new OAuthError('unsupported_token_type', 'This is a key: POST /api/v1/keys/revoke ends it.')
    const principal = await findAccessToken(text)
    const accountId = principal?.accountId ?? (await clientTokens.inspect(text))?.accountId
    if (client && accountId !== undefined && accountId !== clientAccountId)
      throw new OAuthError('unauthorized_client', 'The token belongs to another client.')
    if (principal?.sessionId !== undefined) await clientTokens.end(principal.sessionId)
    else await sessions.revoke(text)
    reply.header('Cache-Control', 'no-store')
    return {}
  }

  return {
    '/api/v1/oauth/token': { handler: createTokenEndpoint(options, clients) },
    '/api/v1/oauth/introspect': { handler: introspect },
    '/api/v1/oauth/revoke': { handler: revoke },
  }
}
