import type { FastifyRequest } from 'fastify'
import { arrivalOf } from '#gateway/arrival/endpoint-arrival.ts'
import { fetchJson } from '#identity/issuers/fetch-json.ts'
import type { FindSignInEndpoints } from '#identity/issuers/issuer-discovery.ts'
import type { MayReturnTo } from '#identity/issuers/redirect-uris.ts'
import { countFailureOrThrow } from '#identity/limits/failures.ts'
import { createLookUpGuard } from '#identity/limits/look-up-guard.ts'
import type { RateLimiter } from '#identity/limits/rate-limiter.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { isRecord } from '#platform/json.ts'
import type { Rate } from '#store/rates.ts'
import { OAuthError } from '../oauth/oauth-error.ts'
import { type Parameters, readParameters, required } from '../oauth/oauth-request.ts'
import type { OwnEndpoint } from '../own-endpoint.ts'

/** An issuer in front of which the gateway is the authorization server. */
export interface IssuerFront {
  readonly name: string
  /** The issuer itself, as its authorization responses name it. */
  readonly issuer: string
  readonly clientId: string
  readonly mayReturnTo: MayReturnTo
  /** The identifier of this authorization server. */
  readonly url: string
  /** Where the issuer sends people back to: the redirect URI of the client that it knows. */
  readonly callbackUrl: string
  readonly findEndpoints: FindSignInEndpoints
}

/** @throws GatehouseError `issuer-unavailable` */
export async function endpointsOf({ findEndpoints }: IssuerFront) {
  try {
    return await findEndpoints()
  } catch (cause) {
    throw issuerUnavailable(cause)
  }
}

function issuerUnavailable(cause: unknown): GatehouseError {
  return new GatehouseError('issuer-unavailable', {
    detail: 'The issuer cannot be reached at the moment: try again.',
    cause,
  })
}

/** More than any program has. */
const redirectUrisMax = 100

/**
 * Registers every client (RFC 7591) as the one client that the issuer knows. What a client says about itself is neither
 * stored nor repeated in the response, apart from redirect URIs that are allowed.
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

/** How long the issuer may take. */
const askMs = 10_000
const answerBytesMax = 64 * 1_024
/** How many requests to an issuer are under way at the same time, in each worker: each is a connection. */
const askingMax = 128

/** The members of the issuer's response that clients get (RFC 6749 5.1). An ID token would name the issuer. */
const toldMembers = ['access_token', 'token_type', 'expires_in', 'refresh_token', 'scope']

export interface TokenRelayOptions {
  readonly limiter: RateLimiter
  /** How many codes and refresh tokens of one client network the issuer may refuse. */
  readonly failures: Rate
}

type IssuerAnswer = Awaited<ReturnType<typeof fetchJson>>

/** Passes codes and refresh tokens on to the issuer (RFC 6749 4.1.3, 6), and its tokens back. */
export function createTokenRelay(
  front: IssuerFront,
  { limiter, failures }: TokenRelayOptions,
): OwnEndpoint['handler'] {
  const guard = createLookUpGuard(limiter, failures)
  let asking = 0

  async function ask(form: URLSearchParams): Promise<IssuerAnswer> {
    const { token } = await endpointsOf(front)
    if (asking >= askingMax)
      throw issuerUnavailable(new Error('too many requests to the issuer are in progress'))
    asking++
    try {
      const answer = await fetchJson(token, {
        method: 'POST',
        body: form,
        timeoutMs: askMs,
        bytesMax: answerBytesMax,
      })
      if (!isUsable(answer))
        throw new Error(`${token}: status ${answer.status}, without a token or an error of OAuth`)
      return answer
    } catch (cause) {
      throw issuerUnavailable(cause)
    } finally {
      asking--
    }
  }

  /** Asks only while the client's network has not sent too many codes and tokens that turned out to be wrong. */
  async function askGuarded(address: string, form: URLSearchParams): Promise<IssuerAnswer> {
    const admission = await guard.admit(address, 'bearer')
    if (!admission) await countFailureOrThrow(limiter, failures, address)
    if (admission !== true)
      throw issuerUnavailable(new Error('too many requests of the client network are in progress'))
    let answer: IssuerAnswer | undefined
    try {
      answer = await ask(form)
      if (answer.status !== 200) await countFailureOrThrow(limiter, failures, address)
      return answer
    } finally {
      guard.release(address, answer === undefined)
    }
  }

  return async (request, reply) => {
    const parameters = readParameters(request)
    assertClient(front, request, parameters)
    const form = formOf(front, parameters)
    reply.header('Cache-Control', 'no-store')
    const { status, json } = await askGuarded(arrivalOf(request.raw).client.address, form)
    // The cast is sound: `ask` has checked it.
    const members = json as Readonly<Record<string, unknown>>
    const told = status === 200 ? toldMembers : ['error', 'error_description']
    reply.code(status === 200 ? 200 : 400).type('application/json')
    return JSON.stringify(
      Object.fromEntries(
        told.flatMap((name) => (Object.hasOwn(members, name) ? [[name, members[name]]] : [])),
      ),
    )
  }
}

/** @throws OAuthError `invalid_client` */
function assertClient({ clientId }: IssuerFront, { headers }: FastifyRequest, parameters: Parameters): void {
  if (headers.authorization !== undefined || parameters.has('client_secret'))
    throw new OAuthError('invalid_client', 'Clients have no secret here: send client_id alone.')
  if (required(parameters, 'client_id') !== clientId)
    throw new OAuthError('invalid_client', 'client_id is not the one of the registration.')
}

/**
 * The form for the issuer. Its redirect URI is the one that the issuer knows. Whether the client repeats its own is not
 * checked: PKCE proves that it began the sign-in, as in OAuth 2.1.
 */
function formOf({ clientId, callbackUrl }: IssuerFront, parameters: Parameters): URLSearchParams {
  const grantType = required(parameters, 'grant_type')
  const form = new URLSearchParams({ grant_type: grantType, client_id: clientId })
  switch (grantType) {
    case 'authorization_code':
      form.set('redirect_uri', callbackUrl)
      for (const name of ['code', 'code_verifier']) form.set(name, required(parameters, name))
      break
    case 'refresh_token':
      form.set('refresh_token', required(parameters, 'refresh_token'))
      break
    default:
      throw new OAuthError(
        'unsupported_grant_type',
        'grant_type must be authorization_code or refresh_token.',
      )
  }
  for (const name of ['scope', 'resource']) {
    const value = parameters.get(name)
    if (value !== undefined) form.set(name, value)
  }
  return form
}

/** Whether it is a token, or a refusal of the request (RFC 6749 5.2). Anything else counts as an outage. */
function isUsable({ status, json }: IssuerAnswer): boolean {
  if (!isRecord(json)) return false
  return status === 200
    ? typeof json.access_token === 'string'
    : (status === 400 || status === 401) && typeof json.error === 'string'
}
