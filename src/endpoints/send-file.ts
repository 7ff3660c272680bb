import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { FileDownload } from '../accounts/audit-log.ts'

/** Sends a file as a download. */
export function sendFile(reply: FastifyReply, { name, type, chunks }: FileDownload): FastifyReply {
  return reply
    .headers({ 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` })
    .send(Readable.from(chunks))
}
