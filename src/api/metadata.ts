import { arrivalOf } from '#gateway/arrival/endpoint-arrival.ts'
import { destinationOf } from '#gateway/arrival/outcome.ts'
import type { RouteOptions } from '#gateway/routes/compile.ts'
import { createHostLookup, type HostLookup, isWildcard } from '#gateway/routes/hosts.ts'
import { frontUrl } from '#gateway/routes/issuer-paths.ts'
import { metadataPath, resourceUrl, takesTokens } from '#gateway/routes/protected-resources.ts'
import type { IssuerOptions } from '#identity/issuers/issuer.ts'
import { proofAlgorithms } from '#identity/issuers/public-keys.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { documentEndpoint, type OwnEndpoint } from './own-endpoint.ts'

export interface ProtectedResourceOptions {
  readonly routes: readonly Pick<
    RouteOptions,
    'host' | 'path' | 'auth' | 'authorization' | 'scopes' | 'issuers'
  >[]
  readonly issuers: readonly Pick<IssuerOptions, 'name' | 'issuer' | 'registration'>[]
  readonly publicOrigin: string
  /** `issuer`: of the gateway's own tokens. */
  readonly tokens: { readonly issuer: string }
}

/** The metadata of a protected resource (RFC 9728 2). */
interface ResourceMetadata {
  readonly resource: string
  /**
   * The issuers of the route, each preceded by the gateway's authorization server in front of it, if there is one. Then
   * the gateway, if its `issuer` is its URL: otherwise clients could not discover its metadata.
   */
  readonly authorization_servers?: readonly string[]
  readonly scopes_supported?: readonly string[]
  readonly bearer_methods_supported: readonly ['header']
  readonly dpop_signing_alg_values_supported: readonly string[]
}

/** Tells clients whose tokens a route accepts. */
export function protectedResourceEndpoint(options: ProtectedResourceOptions): OwnEndpoint {
  const all = createMetadata(options)

  return documentEndpoint(({ raw }): ResourceMetadata => {
    const { target, hostName } = destinationOf(arrivalOf(raw).outcome)
    const ofHost = all.valuesFor(hostName).find((byPath) => byPath.has(target.path))
    const found = ofHost?.get(target.path)
    if (!found) throw new GatehouseError('route-not-found')
    if (!isWildcard(found.route.host)) return found.metadata
    // Clients compare `resource` with the URL that they have called (3.3).
    const route = { ...found.route, host: hostName }
    return { ...found.metadata, resource: resourceUrl(route, options.publicOrigin) }
  })
}

/** The resources, by host and by the path of their document. Routes that differ only in the method are one resource. */
function createMetadata({
  routes,
  issuers,
  publicOrigin,
  tokens,
}: ProtectedResourceOptions): HostLookup<ReadonlyMap<string, Resource>> {
  const urlsOf = new Map(
    issuers.map((issuer) => [
      issuer.name,
      issuer.registration ? [frontUrl(issuer, publicOrigin), issuer.issuer] : [issuer.issuer],
    ]),
  )

  function resourceOf(members: readonly ResourceRoute[]): readonly [path: string, resource: Resource][] {
    const [route] = members
    if (!route) return []
    const named = unique(members.flatMap((route) => route.issuers)).flatMap((name) => urlsOf.get(name) ?? [])
    const servers = tokens.issuer === publicOrigin ? [...named, publicOrigin] : named
    const scopes = unique(members.flatMap((each) => each.scopes ?? []))
    const metadata: ResourceMetadata = {
      resource: resourceUrl(route, publicOrigin),
      ...(servers.length > 0 && { authorization_servers: servers }),
      ...(scopes.length > 0 && { scopes_supported: scopes }),
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: proofAlgorithms,
    }
    return [[metadataPath(route), { route, metadata }]]
  }

  const byHost = Map.groupBy(routes.filter(takesTokens), ({ host }) => host?.toLowerCase())
  return createHostLookup(
    new Map(
      [...byHost].map(([host, ofHost]) => [
        host,
        new Map([...Map.groupBy(ofHost, metadataPath).values()].flatMap(resourceOf)),
      ]),
    ),
  )
}

type ResourceRoute = ProtectedResourceOptions['routes'][number]

interface Resource {
  /** The first of the routes that are this resource. */
  readonly route: ResourceRoute
  readonly metadata: ResourceMetadata
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)]
}

interface ServerMetadataOptions {
  /** The issuer of the gateway's own tokens: clients check that the metadata names it (RFC 8414 3.3). */
  readonly issuer: string
  readonly publicOrigin: string
  readonly routes: readonly Pick<RouteOptions, 'auth' | 'authorization' | 'scopes'>[]
}

/** The metadata of the gateway as an authorization server (RFC 8414 2). It has no authorization endpoint. */
export function serverMetadataEndpoint({ issuer, publicOrigin, routes }: ServerMetadataOptions): OwnEndpoint {
  const scopes = unique(routes.filter(takesTokens).flatMap((route) => route.scopes ?? []))
  const withSecret = ['client_secret_basic', 'client_secret_post']
  const metadata = {
    issuer,
    token_endpoint: `${publicOrigin}/api/v1/oauth/token`,
    jwks_uri: `${publicOrigin}/.well-known/jwks.json`,
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    response_types_supported: [],
    grant_types_supported: ['client_credentials', 'refresh_token'],
    // A refresh token is accepted without a client.
    token_endpoint_auth_methods_supported: [...withSecret, 'none'],
    introspection_endpoint: `${publicOrigin}/api/v1/oauth/introspect`,
    introspection_endpoint_auth_methods_supported: withSecret,
    revocation_endpoint: `${publicOrigin}/api/v1/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: [...withSecret, 'none'],
    // RFC 9449 5.1.
    dpop_signing_alg_values_supported: proofAlgorithms,
  }
  return documentEndpoint(() => metadata)
}
