import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { ownRouteName } from '#gateway/gate/outcome.ts'
import { appArrivalOf } from './read-arrival.ts'

/**
 * Sends 100 only once a request has passed its onRequest hooks: by itself Node sends it before any of them has run, and
 * a client that may not call would send its body. An app that handles `checkContinue` itself keeps doing so.
 */
export function sendContinueOnceAdmitted(app: FastifyInstance): void {
  const { server } = app
  if (server.listenerCount('checkContinue') > 0) return
  const waiting = new WeakSet<IncomingMessage>()
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request)
    server.emit('request', request, response)
  })
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { raw } = request
    // The endpoints of the gateway send their own, once they have checked what the head says about the body.
    if (waiting.has(raw) && appArrivalOf(raw)?.outcome.route !== ownRouteName) reply.raw.writeContinue()
    done()
  })
}
