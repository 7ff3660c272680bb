import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FileDownload } from '#accounts/csv.ts'
import { applyKeepAlive } from '#gateway/refusals/send-problem.ts'

/** `applyKeepAlive` for a Fastify reply: Fastify sets `Connection: close` after every body that it has refused. */
export function applyReplyKeepAlive(request: FastifyRequest, reply: FastifyReply): void {
  applyKeepAlive(request.raw, reply.raw)
  // The connection itself decides whether it has to end; responses of HTTP/2 have no such field (RFC 9113 8.2.2).
  if (request.raw.httpVersionMajor === 2) reply.removeHeader('connection')
  else if (reply.raw.shouldKeepAlive) reply.header('connection', 'keep-alive')
}

/** JSON with a newline at its end, as a terminal needs it. */
export function jsonLine(data: unknown): string {
  return `${JSON.stringify(data)}\n`
}

export function sendFile(reply: FastifyReply, { name, type, chunks }: FileDownload): FastifyReply {
  return reply
    .headers({ 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` })
    .send(Readable.from(chunks))
}
