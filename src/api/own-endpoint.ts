import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { allowedMethods, ownMethods, unlistedMethod } from '#gateway/routes/own-operations.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'

/**
 * Marks the app of the gateway itself, which gets each method that a path does not support as `unlistedMethod`
 * (gateway/server/own-endpoints.ts). An app that hosts the endpoints gets every method as it was sent.
 */
export const isOwnApp = 'isGatehouseItself'

/**
 * The methods to register a path with so that it answers every method. As few as possible, as each is a Fastify route
 * of 2 KiB.
 * @param supported the methods that the path supports
 */
export function routedMethods(app: FastifyInstance, supported: readonly string[]): string[] {
  return app.hasDecorator(isOwnApp) ? [...new Set([...supported, 'HEAD', unlistedMethod])] : [...ownMethods]
}

/** The handlers of one path of the gateway itself. */
export interface OwnEndpoint {
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  /** Called before the body is read, for each request with an allowed method, whatever its outcome. */
  readonly onAccepted?: (request: FastifyRequest, reply: FastifyReply) => void
}

/** How long caches may keep documents that change only with the config or the version. */
export const documentMaxAgeS = 300

/** An endpoint for a document that every cache may keep. @param find throws if there is no such document */
export function documentEndpoint(
  find: (request: FastifyRequest) => unknown,
  maxAgeS = documentMaxAgeS,
): OwnEndpoint {
  return {
    handler: async (request, reply) => {
      const document = find(request)
      reply.header('Cache-Control', `public, max-age=${maxAgeS}`)
      return document
    },
  }
}

/**
 * Registers an endpoint so that its path answers every method.
 * @param methods those that it supports; default: those in the table of own paths
 * @param distinguished those that the gateway's own app gets by name, and not as `unlistedMethod`
 */
export function registerOwnRoute(
  app: FastifyInstance,
  path: string,
  { handler, onAccepted }: OwnEndpoint,
  methods = allowedMethods(path),
  distinguished = methods,
): void {
  app.route({
    url: path.replace(/:path$/, '*'),
    method: routedMethods(app, distinguished),
    onRequest: (request, reply, done) => {
      const isAllowed = methods.includes(request.method)
      if (isAllowed) onAccepted?.(request, reply)
      done(isAllowed ? undefined : new GatehouseError('method-not-allowed', { allow: methods }))
    },
    handler,
  })
}
