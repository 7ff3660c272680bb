import fastifyCookie from '@fastify/cookie'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { arrivalOf } from '#gateway/arrival/endpoint-arrival.ts'
import { destinationOf, recordRouteName } from '#gateway/arrival/outcome.ts'
import { createProblem, sendProblem } from '#gateway/refusals/send-problem.ts'
import {
  documentMethods,
  type GatedPath,
  type MetadataPath,
  type OAuthPath,
  type PerOperation,
  type PublicPath,
  securityTxtPath,
} from '#gateway/routes/own-operations.ts'
import { type GatedRoute, ownRouteName } from '#gateway/routes/route.ts'
import type { Keyring } from '#identity/tokens/keyring.ts'
import { jwksMaxAgeS } from '#identity/tokens/signing-keys.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Portal } from '#portal/portal.ts'
import { type AdminOptions, adminOperations } from './admin/admin-operations.ts'
import { ownAccountOperations } from './admin/usage-operations.ts'
import { adminRoute, createAdmission, introspectionRoute, ownAccountRoute } from './admission.ts'
import { acceptJsonOnly, limitBodies, ownBodyBytesMax } from './bodies.ts'
import { type IssuerFrontsOptions, registerIssuerFronts } from './issuers/issuer-fronts.ts'
import {
  type ProtectedResourceOptions,
  protectedResourceEndpoint,
  serverMetadataEndpoint,
} from './metadata.ts'
import { type OAuthOptions, registerOAuth } from './oauth/oauth.ts'
import { createApiEndpoint } from './openapi/openapi.ts'
import { publicOperations } from './openapi/public-operations.ts'
import { type Operation, registerOperations } from './operation.ts'
import { documentEndpoint, isOwnApp, type OwnEndpoint, registerOwnRoute } from './own-endpoint.ts'
import { registerPortal } from './register-portal.ts'
import { applyReplyKeepAlive, jsonLine } from './replies.ts'
import { type RevocationsOptions, revocationsOperations } from './revocations.ts'
import { registerSignInReturn, type SignInReturnOptions } from './sign-in-return.ts'
import {
  type HeldKeysEndpointOptions,
  revokeKeyEndpoint,
  type TokenEndpointsOptions,
  tokenEndpoints,
} from './token-endpoints.ts'
import { schemaController, translateError } from './validate-with-schemas.ts'

export interface ApiOptions
  extends TokenEndpointsOptions,
    HeldKeysEndpointOptions,
    RevocationsOptions,
    Omit<OAuthOptions, 'sessions'> {
  readonly keyring: Keyring
  readonly version: string
  /** How requests may carry secret keys (`keys.accept`). */
  readonly accept: readonly string[]
  readonly admin: AdminOptions
  /** undefined = there is none. */
  readonly portal: Portal | undefined
  /** undefined = page visits do not sign in on another host. */
  readonly signInReturn?: SignInReturnOptions | undefined
  /** undefined = there are none, as in an app. */
  readonly issuers?: IssuerFrontsOptions['issuers']
  /** undefined = there are no routes, as in an app. */
  readonly protectedResources?: ProtectedResourceOptions | undefined
  /** The text of security.txt; undefined = there is none. */
  readonly securityTxt?: string | undefined
}

/** For a year, and for this host only: subdomains and sibling hosts are not covered. */
const strictTransportSecurity = 'max-age=31536000'

/** The gateway's own endpoints. */
export async function buildApi(options: ApiOptions): Promise<FastifyInstance> {
  const app = Fastify({
    // The path in the form in which the gateway has matched it.
    rewriteUrl: (request) => {
      const { path, query } = destinationOf(arrivalOf(request).outcome).target
      return replaceInvalidEscapes(path) + query
    },
    // Only the size of the head limits a parameter: beyond the default of 100 characters the router would refuse
    // before authentication.
    routerOptions: { maxParamLength: Number.MAX_SAFE_INTEGER },
    frameworkErrors: answerUnroutable,
    schemaController,
    genReqId: () => '',
    bodyLimit: ownBodyBytesMax,
    exposeHeadRoutes: false,
    return503OnClosing: false,
  })
  app.decorate(isOwnApp, true)
  await registerEndpoints(app, options)
  await app.ready()
  return app
}

/**
 * Registers the endpoints in a scope, with error responses of its own. Each request must have an arrival attached
 * before the hooks of this scope run.
 */
export async function registerEndpoints(scope: FastifyInstance, options: ApiOptions): Promise<void> {
  // An app that hosts the endpoints may have registered it: it can be registered only once.
  if (!scope.hasRequestDecorator('cookies')) await scope.register(fastifyCookie)
  // Otherwise an app that hosts the endpoints would set the limit.
  scope.addHook('onRoute', (route) => {
    route.bodyLimit ??= ownBodyBytesMax
  })
  const isSecure = options.publicOrigin.startsWith('https:')
  scope.addHook('onRequest', (request, reply, done) => {
    recordRouteName(arrivalOf(request.raw).outcome, ownRouteName)
    // Set on the raw response, so that it stays however the response is sent. Browsers ignore it over plain HTTP (RFC
    // 6797 8.1).
    if (isSecure) reply.raw.setHeader('Strict-Transport-Security', strictTransportSecurity)
    done()
  })
  scope.setErrorHandler<FastifyError>((error, request, reply) => {
    // The body was aborted, and the error already sent.
    if (reply.sent) return reply
    const { status, headers, body } = createProblem(arrivalOf(request.raw), translateError(error))
    applyReplyKeepAlive(request, reply)
    return reply.code(status).headers(headers).send(Buffer.from(body))
  })
  await scope.register(async (jsonScope) => registerJson(jsonScope, options))
  await scope.register(async (formScope) => registerOAuth(formScope, options))
  const { portal, signInReturn, issuers, securityTxt } = options
  if (issuers)
    await scope.register(async (issuerScope) => registerIssuerFronts(issuerScope, { ...options, issuers }))
  if (signInReturn)
    await scope.register(async (returnScope) => registerSignInReturn(returnScope, signInReturn))
  if (securityTxt !== undefined)
    registerOwnRoute(
      scope,
      securityTxtPath,
      documentEndpoint(() => securityTxt),
      documentMethods,
    )
  if (portal) {
    await scope.register(async (portalScope) => {
      limitBodies(portalScope, options.requestTimeoutMs)
      registerPortal(portalScope, portal)
    })
  }
}

/**
 * Replaces escapes that are not UTF-8 with U+FFFD. Such a path then gets the same response as an unknown one, after
 * authentication, whereas the router would refuse it before.
 * @param path its escapes are complete and in upper case
 */
function replaceInvalidEscapes(path: string): string {
  if (!path.includes('%')) return path
  return path.replaceAll(/(?:%[89A-F][0-9A-F])+/g, (escapes) =>
    encodeURIComponent(Buffer.from(escapes.replaceAll('%', ''), 'hex').toString()),
  )
}

/** Answers any other request that the router refuses. Its error contains the path, which must not be logged. */
function answerUnroutable(_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  recordRouteName(arrivalOf(request.raw).outcome, ownRouteName)
  sendProblem(request.raw, reply.raw, new GatehouseError('route-not-found'))
}

/** Registers the endpoints that accept only JSON. */
function registerJson(scope: FastifyInstance, options: ApiOptions): void {
  scope.setReplySerializer(jsonLine)
  acceptJsonOnly(scope, options.requestTimeoutMs)
  const admin = adminOperations(options.admin)
  const ownAccount = ownAccountOperations(options.admin.actionsOf)
  const revocations = revocationsOperations(options)
  const operations = { ...publicOperations, ...ownAccount, ...revocations, ...admin }
  const endpoints: Readonly<Record<Exclude<PublicPath, MetadataPath | OAuthPath>, OwnEndpoint>> = {
    ...tokenEndpoints(scope, options),
    '/api/v1/keys/revoke': revokeKeyEndpoint(options),
    // Including signing keys that are announced but not used yet.
    '/.well-known/jwks.json': documentEndpoint(options.keyring.jwks, jwksMaxAgeS),
    '/.well-known/oauth-authorization-server': serverMetadataEndpoint({
      ...options,
      routes: options.protectedResources?.routes ?? [],
    }),
    '/api/v1/openapi.json': createApiEndpoint({ ...options, portalPath: options.portal?.path, operations }),
  }
  for (const [path, endpoint] of Object.entries(endpoints)) registerOwnRoute(scope, path, endpoint)
  const { protectedResources } = options
  if (protectedResources) registerProtectedResources(scope, protectedResourceEndpoint(protectedResources))
  function registerGated<Path extends GatedPath>(
    gated: PerOperation<Operation, Path>,
    route: GatedRoute,
  ): void {
    const admission = createAdmission(options.gate, options.publicOrigin, route)
    scope.register(async (own) => registerOperations(own, gated, admission))
  }
  registerGated(admin, adminRoute)
  registerGated(ownAccount, ownAccountRoute)
  registerGated(revocations, introspectionRoute(options.introspection))
}

/** The path of a route, of any number of segments, follows the well-known path. */
function registerProtectedResources(scope: FastifyInstance, endpoint: OwnEndpoint): void {
  registerOwnRoute(scope, '/.well-known/oauth-protected-resource', endpoint)
  registerOwnRoute(scope, '/.well-known/oauth-protected-resource/:path', endpoint)
}
