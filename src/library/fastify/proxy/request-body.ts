import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'

/** Ends the exchange with the backend, because the client has gone. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/**
 * The body of a request for the backend: read only when the backend takes it, and at most `bytesMax`. Not the request
 * itself: whoever destroys that destroys the connection, and the client would get no response.
 */
export class RequestBodyStream extends Readable {
  readonly #request: IncomingMessage
  readonly #bytesMax: number
  #bytes = 0
  #isAttached = false

  constructor(request: IncomingMessage, bytesMax: number) {
    super()
    this.#request = request
    this.#bytesMax = bytesMax
  }

  override _read(): void {
    if (!this.#isAttached) this.#attach()
    this.#request.resume()
  }

  #attach(): void {
    this.#isAttached = true
    this.#request.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose)
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length
    if (this.#bytes > this.#bytesMax) this.destroy(new GatehouseError('body-too-large'))
    else if (!this.push(chunk)) this.#request.pause()
  }

  readonly #onEnd = (): void => {
    this.push(null)
  }

  readonly #onClose = (): void => {
    if (!this.#request.complete) this.destroy(new ClientGone('the client has gone'))
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose)
    // What still comes is thrown away, so that the response reaches the client.
    if (this.#isAttached) this.#request.resume()
    done(error)
  }
}
