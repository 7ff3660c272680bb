import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { GatehouseError } from '../errors.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** Lets a scope have routes for every method that Node can read. */
export function addAllMethods(app: FastifyInstance): void {
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: false })
  }
}

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
    method: METHODS,
    onRequest: (request, reply, done) => {
      const isAllowed = methods.includes(request.method)
      if (isAllowed) onAccepted?.(request, reply)
      done(isAllowed ? undefined : new GatehouseError('method-not-allowed', { allow: methods }))
    },
    handler,
  })
}
