import { keysOf } from '#platform/json.ts'

// The paths at which the gateway is an authorization server in front of an issuer: they exist only for issuers with
// `registration`, so they are not in the table of own paths.

/** The part of an issuer that decides whether it has such paths. */
export interface FrontedIssuer {
  readonly name: string
  readonly registration?: object | undefined
}

export const methodsOfEndpoints = {
  metadata: ['GET', 'HEAD'],
  register: ['POST'],
  authorize: ['GET', 'HEAD'],
  callback: ['GET', 'HEAD'],
  token: ['POST'],
} as const

export type IssuerEndpoint = keyof typeof methodsOfEndpoints

/** The identifier of this authorization server, which differs for each issuer (RFC 8414 2). */
export function frontUrl({ name }: FrontedIssuer, publicOrigin: string): string {
  return publicOrigin + basePath(name)
}

/** The path of an endpoint. The well-known path of the metadata precedes the path of the identifier (RFC 8414 3.1). */
export function issuerPath({ name }: FrontedIssuer, endpoint: IssuerEndpoint): string {
  return endpoint === 'metadata'
    ? `/.well-known/oauth-authorization-server${basePath(name)}`
    : `${basePath(name)}/${endpoint}`
}

export function issuerPathsOf(
  issuers: readonly FrontedIssuer[],
): readonly (readonly [path: string, methods: readonly string[]])[] {
  const endpoints = keysOf(methodsOfEndpoints)
  return issuers
    .filter(({ registration }) => registration !== undefined)
    .flatMap((issuer) =>
      endpoints.map((endpoint) => [issuerPath(issuer, endpoint), methodsOfEndpoints[endpoint]] as const),
    )
}

function basePath(name: string): string {
  return `/api/v1/issuers/${name}`
}
