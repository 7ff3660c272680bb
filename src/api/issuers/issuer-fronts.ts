import type { FastifyError, FastifyInstance } from 'fastify'
import { arrivalOf } from '#gateway/arrival/endpoint-arrival.ts'
import { createProblem } from '#gateway/refusals/send-problem.ts'
import {
  frontUrl,
  type IssuerEndpoint,
  issuerPath,
  methodsOfEndpoints,
} from '#gateway/routes/issuer-paths.ts'
import type { IssuerOptions } from '#identity/issuers/issuer.ts'
import { createSignInEndpointLookup } from '#identity/issuers/issuer-discovery.ts'
import { createRedirectUriCheck } from '#identity/issuers/redirect-uris.ts'
import { monotonicClock } from '#platform/time.ts'
import { acceptJsonOnly } from '../bodies.ts'
import { answerOAuthErrors } from '../oauth/oauth-error.ts'
import { acceptFormsOnly } from '../oauth/oauth-request.ts'
import { documentEndpoint, type OwnEndpoint, registerOwnRoute } from '../own-endpoint.ts'
import { jsonLine } from '../replies.ts'
import { translateError } from '../validate-with-schemas.ts'
import {
  createRegistration,
  createTokenRelay,
  type IssuerFront,
  type TokenRelayOptions,
} from './issuer-front.ts'
import { answerErrorPage, createIssuerSignIn } from './sign-in.ts'

export interface IssuerFrontsOptions extends TokenRelayOptions {
  readonly issuers: readonly Pick<IssuerOptions, 'name' | 'issuer' | 'registration'>[]
  readonly publicOrigin: string
  readonly requestTimeoutMs: number
}

/**
 * For each issuer with `registration`, an authorization server that registers every client as the one that the issuer
 * knows, and sends people to the issuer and back. Nothing is stored.
 */
export function registerIssuerFronts(scope: FastifyInstance, options: IssuerFrontsOptions): void {
  const { publicOrigin, requestTimeoutMs } = options
  const fronts = options.issuers.flatMap((issuer) => {
    const { name, registration } = issuer
    return registration === undefined
      ? []
      : [
          {
            name,
            issuer: issuer.issuer,
            clientId: registration.clientId,
            mayReturnTo: createRedirectUriCheck(registration),
            url: frontUrl(issuer, publicOrigin),
            callbackUrl: publicOrigin + issuerPath(issuer, 'callback'),
            findEndpoints: createSignInEndpointLookup(issuer.issuer, monotonicClock),
          },
        ]
  })
  if (fronts.length === 0) return

  scope.register(async (forPrograms) => {
    forPrograms.setReplySerializer(jsonLine)
    acceptJsonOnly(forPrograms, requestTimeoutMs)
    answerOAuthErrors(forPrograms, { invalidRequest: 'invalid_client_metadata' })
    registerEach(forPrograms, fronts, 'metadata', metadataEndpoint)
    registerEach(forPrograms, fronts, 'register', createRegistration)
  })
  scope.register(async (forForms) => {
    acceptFormsOnly(forForms, requestTimeoutMs)
    answerOAuthErrors(forForms)
    registerEach(forForms, fronts, 'token', (front) => createTokenRelay(front, options))
  })
  scope.register(async (forPeople) => {
    forPeople.setErrorHandler<FastifyError>((error, request, reply) => {
      const refusal = translateError(error)
      const { headers } = createProblem(arrivalOf(request.raw), refusal)
      return answerErrorPage(reply.headers(headers), refusal, arrivalOf(request.raw).requestId)
    })
    registerEach(forPeople, fronts, 'authorize', (front) => createIssuerSignIn(front).authorize)
    registerEach(forPeople, fronts, 'callback', (front) => createIssuerSignIn(front).callback)
  })
}

function registerEach(
  scope: FastifyInstance,
  fronts: readonly IssuerFront[],
  endpoint: IssuerEndpoint,
  create: (front: IssuerFront) => OwnEndpoint['handler'],
): void {
  for (const front of fronts)
    registerOwnRoute(
      scope,
      issuerPath(front, endpoint),
      { handler: create(front) },
      methodsOfEndpoints[endpoint],
    )
}

/** RFC 8414 2. */
function metadataEndpoint({ url }: IssuerFront): OwnEndpoint['handler'] {
  const metadata = {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    registration_endpoint: `${url}/register`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
  return documentEndpoint(() => metadata).handler
}
