import type { MayReturnTo } from '#identity/issuers/issuer.ts'
import type { FindSignInEndpoints } from '#identity/issuers/issuer-fetches.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'

/** An issuer in front of which the gateway is the authorization server. */
export interface IssuerFront {
  readonly name: string
  /** The issuer itself, as its authorization responses name it. */
  readonly issuer: string
  readonly clientId: string
  readonly mayReturnTo: MayReturnTo
  /** The identifier of this authorization server. */
  readonly url: string
  /** To where the issuer returns people: the redirect URI of the client there. */
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

export function issuerUnavailable(cause: unknown): GatehouseError {
  return new GatehouseError('issuer-unavailable', {
    detail: 'The issuer cannot be reached at the moment: try again.',
    cause,
  })
}
