import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { standardMethods } from '../routes/route.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** A method that no endpoint of the gateway takes: it stands for all methods but the usual ones. */
export const unlistedMethod = 'TRACE'
/**
 * The methods that the endpoints tell apart: each path is registered for each of them, and with all of Node's methods
 * that would take a tenth of the start.
 */
export const ownMethods: readonly string[] = [...standardMethods, unlistedMethod]

/** Registers an endpoint of the gateway itself: it owns its path for every method. */
export function registerOwnRoute(
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
    /** Called for each request with one of these methods before its body is read, however it ends. */
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
