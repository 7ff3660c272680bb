import type { ServerHttp2Stream } from 'node:http2'
import { releaseBuffer } from '../http1/read-buffers.ts'
import { smallChunkBytesMax } from '../http1/response-writer.ts'

/** Of one long response, before it waits for its client. node:http2 would wait after each chunk of 64 KiB. */
const unsentBytesMax = 131_072

/**
 * Writes a piece of a response, and frees the memory of a long one once it is sent: nobody else may use it.
 * @returns false where more should wait until the stream drains
 */
export function writeChunk(stream: ServerHttp2Stream, chunk: Buffer): boolean {
  if (chunk.length <= smallChunkBytesMax) return stream.write(chunk)
  stream.write(chunk, (error?: Error | null) => {
    // After an error its connection may still be sending it: the collector frees it.
    if (!error && !stream.destroyed) releaseBuffer(chunk)
  })
  return stream.writableLength <= unsentBytesMax
}
