import fastifyCookie from '@fastify/cookie'
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import { type Code, GatehouseError } from '../errors.ts'
import type { Keyring } from '../tokens/keyring.ts'
import { type AccountEndpointsOptions, accountPaths, registerAccountEndpoints } from './accounts.ts'
import { arrivalOf, destinationOf } from './arrival.ts'
import { acceptJsonOnly, jsonBytesMax } from './json-body.ts'
import { jwksPath, registerJwks } from './jwks.ts'
import { addAllMethods } from './own-route.ts'
import { createProblem, prepareEarlyAnswer } from './problem.ts'

export interface ApiOptions extends AccountEndpointsOptions {
  readonly keyring: Keyring
  readonly requestTimeoutMs: number
}

/** The endpoints of the gateway itself, with the methods that they take. */
export const ownMethods: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...Object.values(accountPaths).map((path) => [path, ['POST']] as const),
  [jwksPath, ['GET', 'HEAD']] as const,
])

/** Paths that are the gateway's for every method, and win over any route. */
export const ownPaths: ReadonlySet<string> = new Set(ownMethods.keys())

/** The JSON scope: the endpoints of the gateway itself. */
export async function buildApi(options: ApiOptions): Promise<FastifyInstance> {
  const app = Fastify({
    // The same reading of the path that decided it is ours.
    rewriteUrl: (request) => destinationOf(request).target.path,
    genReqId: () => '',
    bodyLimit: jsonBytesMax,
    exposeHeadRoutes: false,
    return503OnClosing: false,
  })
  acceptJsonOnly(app, options.requestTimeoutMs)
  await app.register(fastifyCookie)
  app.addHook('onRequest', (request, _reply, done) => {
    arrivalOf(request.raw).outcome.route = '_gateway'
    done()
  })
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    // The body broke off, and whoever noticed has answered.
    if (reply.sent) return reply
    const { status, headers, body } = createProblem(request.raw, translate(error))
    prepareEarlyAnswer(request.raw, reply.raw)
    return reply.code(status).headers(headers).send(Buffer.from(body))
  })
  addAllMethods(app)
  registerAccountEndpoints(app, options)
  registerJwks(app, options.keyring)
  await app.ready()
  return app
}

const codes: Readonly<Record<string, Code>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body-too-large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'media-type-unsupported',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'request-invalid',
}

/** Fastify's own errors as ours. */
function translate(error: FastifyError | GatehouseError): GatehouseError {
  if (error instanceof GatehouseError) return error
  return new GatehouseError(codes[error.code] ?? 'internal', { cause: error })
}
