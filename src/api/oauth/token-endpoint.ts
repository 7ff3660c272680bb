import type { FastifyReply, FastifyRequest } from 'fastify'
import { arrivalOf, visitorOf } from '#gateway/arrival/endpoint-arrival.ts'
import { recordOnSent } from '#gateway/arrival/outcome.ts'
import { proofOrRefusal, provenRequest, useProof } from '#gateway/gate/possession.ts'
import type { Proofs } from '#identity/proofs.ts'
import type { ClientTokens } from '#identity/tokens/client-tokens.ts'
import { payloadOf, tokenMaxAgeS } from '#identity/tokens/jwt.ts'
import { assertHasScopes } from '#identity/tokens/session-start.ts'
import type { Sessions } from '#identity/tokens/sessions.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { OwnEndpoint } from '../own-endpoint.ts'
import { OAuthError } from './oauth-error.ts'
import { type Clients, type Parameters, readParameters, readScopes, required } from './oauth-request.ts'

export interface TokenEndpointOptions {
  readonly sessions: Pick<Sessions, 'refresh'>
  readonly clientTokens: Pick<ClientTokens, 'grant' | 'inspect'>
  readonly proofs: Proofs
  readonly metrics: Metrics
  readonly publicOrigin: string
}

/** Issues tokens (RFC 6749 3.2), bound to the key of a client that proves to have one (RFC 9449 5). */
export function createTokenEndpoint(options: TokenEndpointOptions, clients: Clients): OwnEndpoint['handler'] {
  const { sessions, clientTokens, proofs, metrics, publicOrigin } = options
  const readProof = createTokenProofReader(proofs, publicOrigin)

  async function grant(request: FastifyRequest, parameters: Parameters): Promise<unknown> {
    const { apiKey, secretKey } = clients.read(request, parameters) ?? {}
    if (apiKey === undefined || secretKey === undefined)
      throw new GatehouseError('credentials-missing', { detail: clientMissing })
    const scopes = readScopes(parameters)
    const proof = readProof(request)
    if (proof) {
      await clients.ownerOf(request, { apiKey, secretKey })
      await proof.use()
    }
    const granted = await clientTokens
      .grant({ apiKey, secretKey }, visitorOf(request.raw), { scopes, jkt: proof?.jkt })
      .catch((error: unknown) => clients.countFailed(request, error))
    metrics.tokensIssued.inc({ grant: 'keys' })
    return tokenResponse(granted.accessToken)
  }

  /** If a client is named, it must own the token (RFC 6749 6); this is checked before the token is spent. */
  async function refresh(request: FastifyRequest, parameters: Parameters): Promise<unknown> {
    const refreshToken = required(parameters, 'refresh_token')
    const client = clients.read(request, parameters)
    const scopes = readScopes(parameters)
    const proof = readProof(request)
    const clientAccountId = await clients.accountIdOf(request, client)
    if (client || scopes || proof) {
      const session = await clientTokens.inspect(refreshToken)
      if (session && client && session.accountId !== clientAccountId)
        throw new OAuthError('invalid_grant', 'The refresh token belongs to another client.')
      if (session) assertHasScopes(session.scopes, scopes)
      if (session) await proof?.use()
    }
    const isPublic = client?.secretKey === undefined
    const issued = await sessions.refresh(refreshToken, visitorOf(request.raw), {
      scopes,
      jkt: proof?.jkt,
      isPublic,
    })
    metrics.tokensIssued.inc({ grant: 'refresh' })
    recordOnSent(arrivalOf(request.raw).outcome, issued.acknowledge)
    return { ...tokenResponse(issued.accessToken), refresh_token: issued.refreshToken }
  }

  return async function answerTokenRequest(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const parameters = readParameters(request)
    const grantType = required(parameters, 'grant_type')
    reply.header('Cache-Control', 'no-store')
    switch (grantType) {
      case 'client_credentials':
        return grant(request, parameters)
      case 'refresh_token':
        return refresh(request, parameters)
      default:
        throw new OAuthError(
          'unsupported_grant_type',
          'grant_type must be client_credentials or refresh_token.',
        )
    }
  }
}

const clientMissing =
  'Send the API key as client_id and a secret key as client_secret, by Authorization: Basic or in the body.'

/** RFC 6749 5.1. It names the scopes if the token is limited to some. */
function tokenResponse(accessToken: string): object {
  const claims = payloadOf(accessToken) ?? {}
  const { scope } = claims
  return {
    access_token: accessToken,
    token_type: tokenTypeOf(claims),
    expires_in: tokenMaxAgeS(accessToken),
    ...(typeof scope === 'string' && { scope }),
  }
}

/** RFC 9449 5 and 6.2. */
export function tokenTypeOf(claims: Readonly<Record<string, unknown>> | undefined): 'Bearer' | 'DPoP' {
  return claims?.cnf === undefined ? 'Bearer' : 'DPoP'
}

/** The proof of a client that asks for a token: the token will be bound to its key. */
interface TokenProof {
  /** The thumbprint of the key. */
  readonly jkt: string
  /**
   * Marks the proof as used. To be called once the client is authorised, so that nothing is stored for strangers.
   * @throws GatehouseError `proof-invalid`
   */
  use(): Promise<void>
}

/**
 * The proof beside a token request (RFC 9449 5); undefined = there is none.
 * @throws GatehouseError `proof-invalid`, `proof-nonce-required`
 */
type ReadTokenProof = (request: FastifyRequest) => TokenProof | undefined

function createTokenProofReader(proofs: Proofs, publicOrigin: string): ReadTokenProof {
  return function readTokenProof({ raw }) {
    const arrival = arrivalOf(raw)
    const sent = arrival.fields.uncommon.proofs
    if (sent === undefined) return undefined
    const verdict = proofs.read(sent, provenRequest(arrival, publicOrigin, undefined))
    const proof = proofOrRefusal(arrival, proofs, verdict)
    if (proof instanceof GatehouseError) throw proof
    return {
      jkt: proof.jkt,
      use: async () => {
        const refusal = await useProof(arrival, proofs, proof)
        if (refusal) throw refusal
      },
    }
  }
}
