import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { GatehouseError } from '../errors.ts'
import { usualMethods } from '../routes/route.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** What no endpoint of the gateway takes; all methods but the usual ones come in as this. */
export const otherMethod = 'TRACE'
/**
 * As many as the endpoints tell apart: a path is registered for each of them, and with all that Node knows
 * that would be a tenth of a start.
 */
export const ownMethods: readonly string[] = [...usualMethods, otherMethod]

/** Registers an endpoint of the gateway itself: it owns its path for every method. */
export function ownRoute(
  app: FastifyInstance,
  {
    path,
    methods,
    handler,
    onAccepted,
  }: {
    readonly path: string
    readonly methods: readonly string[]
    readonly handler: Handler
    /** Told of each request of these methods before its body is read, whatever becomes of it. */
    readonly onAccepted?: (request: FastifyRequest, reply: FastifyReply) => void
  },
): void {
  app.route({
    url: path,
    method: [...ownMethods],
    onRequest: (request, reply, done) => {
      const isAllowed = methods.includes(request.method)
      if (isAllowed) onAccepted?.(request, reply)
      done(isAllowed ? undefined : new GatehouseError('method-not-allowed', { allow: methods }))
    },
    handler,
  })
}
