import type { FastifyRequest } from 'fastify'
import { clientLengthMax, type Visitor } from '../store/visitor.ts'
import { arrivalOf } from './arrival.ts'

/** From where a request came, as it is kept with sessions and in the audit log. */
export function visitorOf({ raw, headers }: FastifyRequest): Visitor {
  const client = headers['user-agent'] ?? ''
  return { address: arrivalOf(raw).client.address, client: client.slice(0, clientLengthMax).toWellFormed() }
}
