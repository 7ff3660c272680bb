import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { allowedMethods, ownMethods } from '#gateway/routes/own-paths.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'

/** The handlers of one path of the gateway itself. */
export interface OwnEndpoint {
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  /** Called before the body is read, for each request with an allowed method, whatever its outcome. */
  readonly onAccepted?: (request: FastifyRequest, reply: FastifyReply) => void
}

/** Registers an endpoint of the table of own paths: it owns its path for every method. */
export function registerOwnRoute(
  app: FastifyInstance,
  path: string,
  { handler, onAccepted }: OwnEndpoint,
): void {
  const methods = allowedMethods(path)
  app.route({
    url: path.replace(/:path$/, '*'),
    method: [...ownMethods],
    onRequest: (request, reply, done) => {
      const isAllowed = methods.includes(request.method)
      if (isAllowed) onAccepted?.(request, reply)
      done(isAllowed ? undefined : new GatehouseError('method-not-allowed', { allow: methods }))
    },
    handler,
  })
}
