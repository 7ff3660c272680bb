import type { FastifyReply } from 'fastify'
import { createProblem } from '#gateway/refusals/problem.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { AppArrival } from './read-arrival.ts'

/**
 * Answers with a problem. Directly, not by an error: the error handler of an app could turn it into something else, or
 * drop the headers that clients need to authenticate.
 */
export function refuse(reply: FastifyReply, arrival: AppArrival, error: GatehouseError): void {
  const { status, headers, body } = createProblem(arrival, error)
  if (!arrival.connection.canPersist()) reply.header('Connection', 'close')
  reply.code(status).headers(headers).send(Buffer.from(body))
  // Node may refuse a malformed request too, once it has read on: the client would get a second response.
  if (arrival.connection.malformed && reply.raw.writableEnded) reply.raw.socket?.destroySoon()
}
