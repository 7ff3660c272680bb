import type { FastifyRequest } from 'fastify'
import { arrivalOf } from '../http/arrival.ts'
import { userAgentLengthMax, type Visitor } from '../store/visitor.ts'

/** The origin of a request, as stored with sessions and in the audit log. */
export function visitorOf({ raw, headers }: FastifyRequest): Visitor {
  const userAgent = headers['user-agent'] ?? ''
  return {
    address: arrivalOf(raw).client.address,
    userAgent: userAgent.slice(0, userAgentLengthMax).toWellFormed(),
  }
}
