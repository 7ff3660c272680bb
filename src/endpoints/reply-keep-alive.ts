import type { FastifyReply, FastifyRequest } from 'fastify'
import { applyKeepAlive } from '../http/problem.ts'

/** `applyKeepAlive` for a Fastify reply: Fastify sets `Connection: close` after every body that it has refused. */
export function applyReplyKeepAlive(request: FastifyRequest, reply: FastifyReply): void {
  applyKeepAlive(request.raw, reply.raw)
  // The connection decides itself whether it has to end.
  if (reply.raw.shouldKeepAlive) reply.header('connection', 'keep-alive')
}
