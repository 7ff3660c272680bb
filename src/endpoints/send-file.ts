import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** A file that is written while it is sent. */
export interface FileDownload {
  /** Without anything that a quoted string would have to escape. */
  readonly name: string
  /** For Content-Type. */
  readonly type: string
  readonly chunks: AsyncGenerator<string>
}

/** Sends a file, for browsers to save. */
export function sendFile(reply: FastifyReply, { name, type, chunks }: FileDownload): FastifyReply {
  return reply
    .headers({ 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` })
    .send(Readable.from(chunks))
}
