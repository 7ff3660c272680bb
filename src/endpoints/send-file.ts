import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** A file that is generated while it is sent. */
export interface FileDownload {
  /** Without characters that a quoted string would have to escape. */
  readonly name: string
  /** For Content-Type. */
  readonly type: string
  readonly chunks: AsyncGenerator<string>
}

/** Sends a file as a download. */
export function sendFile(reply: FastifyReply, { name, type, chunks }: FileDownload): FastifyReply {
  return reply
    .headers({ 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` })
    .send(Readable.from(chunks))
}
