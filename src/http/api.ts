import fastifyCookie from '@fastify/cookie'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { GatehouseError } from '../errors.ts'
import type { Keyring } from '../tokens/keyring.ts'
import { type AccountEndpointsOptions, registerAccountEndpoints } from './accounts.ts'
import { type AdminOptions, createAdminApi } from './admin/admin.ts'
import { arrivalOf, destinationOf, ownRouteName } from './arrival.ts'
import { translateError } from './fastify-errors.ts'
import { acceptJsonOnly, jsonBytesMax, limitBodies } from './json-body.ts'
import { registerJwks } from './jwks.ts'
import { openOperations } from './openapi/account-operations.ts'
import { registerOpenApi } from './openapi/openapi.ts'
import { createProblem, prepareEarlyReply, sendProblem } from './problem.ts'

export interface ApiOptions extends AccountEndpointsOptions {
  readonly keyring: Keyring
  readonly requestTimeoutMs: number
  readonly version: string
  /** Where the portal is; undefined = there is none. */
  readonly portalPath: string | undefined
  readonly admin: Pick<AdminOptions, 'actsOf' | 'authenticator' | 'keyUses' | 'hasPortal'>
  /** Registers the pages of the portal in a scope of their own; undefined = there are none. */
  readonly registerPortal?: ((scope: FastifyInstance) => void) | undefined
}

/** The JSON scope: the endpoints of the gateway itself. */
export async function buildApi(options: ApiOptions): Promise<FastifyInstance> {
  const app = Fastify({
    // The same reading of the path that decided it is ours.
    rewriteUrl: (request) => {
      const { path, query } = destinationOf(request).target
      return withReadableEscapes(path) + query
    },
    // No more than the head of a request may have; the default of 100 characters is refused before anybody is asked who
    // they are.
    routerOptions: { maxParamLength: Number.MAX_SAFE_INTEGER },
    frameworkErrors: refuseUnroutable,
    genReqId: () => '',
    bodyLimit: jsonBytesMax,
    exposeHeadRoutes: false,
    return503OnClosing: false,
  })
  await app.register(fastifyCookie)
  app.addHook('onRequest', (request, _reply, done) => {
    arrivalOf(request.raw).outcome.route = ownRouteName
    done()
  })
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    // The body broke off, and whoever noticed has answered.
    if (reply.sent) return reply
    const { status, headers, body } = createProblem(request.raw, translateError(error))
    prepareEarlyReply(request, reply)
    return reply.code(status).headers(headers).send(Buffer.from(body))
  })
  await app.register(async (scope) => registerJson(scope, options))
  const { registerPortal } = options
  if (registerPortal) {
    await app.register(async (scope) => {
      limitBodies(scope, options.requestTimeoutMs)
      registerPortal(scope)
    })
  }
  await app.ready()
  return app
}

/**
 * With U+FFFD in the place of escapes that are not UTF-8: such a path names nothing, as one that is merely unknown, and
 * gets the same answer, after authentication. The router would refuse it before.
 * @param path its escapes are whole and in upper case
 */
function withReadableEscapes(path: string): string {
  if (!path.includes('%')) return path
  return path.replaceAll(/(?:%[89A-F][0-9A-F])+/g, (escapes) =>
    encodeURIComponent(Buffer.from(escapes.replaceAll('%', ''), 'hex').toString()),
  )
}

/** Whatever else the router cannot take is answered by us. Its own words hold the path, which has no place in the log. */
function refuseUnroutable(_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  arrivalOf(request.raw).outcome.route = ownRouteName
  sendProblem(request.raw, reply.raw, new GatehouseError('route-not-found'))
}

/** All that takes JSON and nothing else. */
function registerJson(scope: FastifyInstance, options: ApiOptions): void {
  acceptJsonOnly(scope, options.requestTimeoutMs)
  registerAccountEndpoints(scope, options)
  registerJwks(scope, options.keyring)
  const admin = createAdminApi({ ...options, ...options.admin })
  scope.register(async (ofAdmins) => admin.register(ofAdmins))
  registerOpenApi(scope, { ...options, operations: { ...openOperations, ...admin.operations } })
}
