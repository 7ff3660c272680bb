import type { RequestBody } from '../exchange/request-head.ts'
import { ChunkExtensions, ChunkedDecoder } from './chunked-decoder.ts'
import { noBytes } from './read-buffers.ts'

/** How many bytes of chunk extensions are allowed beyond the size of the body, as no other limit counts them. */
const extensionBytesMax = 16_384
const noTrailers: readonly string[] = []

/** Finds the end of a request's body in the bytes after its head (RFC 9112 6). */
export class BodyReader {
  readonly #chunks: ChunkedDecoder | undefined
  readonly #onData: (chunk: Buffer) => void
  #remaining: number

  constructor(body: RequestBody, onData: (chunk: Buffer) => void) {
    this.#onData = onData
    this.#chunks =
      body.kind === 'chunked' ? new ChunkedDecoder(onData, new ChunkExtensions(extensionBytesMax)) : undefined
    this.#remaining = body.kind === 'counted' ? body.length : 0
  }

  /** How many chunks the last read had. */
  get chunksRead(): number {
    return this.#chunks?.chunksRead ?? 0
  }

  /** How much is still to arrive; undefined = unknown. */
  get remaining(): number | undefined {
    return this.#chunks ? undefined : this.#remaining
  }

  /** Name, value, name, value of the trailer fields, once the body is complete. */
  get trailers(): readonly string[] | undefined {
    if (this.#chunks) return this.#chunks.trailers
    return this.#remaining === 0 ? noTrailers : undefined
  }

  /** @returns what came after the end. @throws MalformedMessage */
  feed(chunk: Buffer): Buffer {
    if (this.#chunks) return this.#chunks.feed(chunk)
    const data = chunk.length > this.#remaining ? chunk.subarray(0, this.#remaining) : chunk
    this.#remaining -= data.length
    this.#onData(data)
    return data.length === chunk.length ? noBytes : chunk.subarray(data.length)
  }
}
