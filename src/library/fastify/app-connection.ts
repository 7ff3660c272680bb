import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { EndpointConnection } from '#gateway/server/arrival.ts'
import type { RequestHead } from '#http/exchange/request-head.ts'
import { discardedBytesMax } from '#http/h1/slow-clients.ts'
import { unmappedAddress } from '#platform/addresses.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'

/** The head of a request, and whether it could be read in two ways. */
export interface ReadHead {
  readonly head: RequestHead
  readonly malformed: GatehouseError | undefined
}

/** The connection of a request that Node's HTTP server has read. */
export class AppConnection implements EndpointConnection {
  readonly #request: IncomingMessage
  readonly #head: RequestHead
  /** Why the request is refused whatever it asks for; undefined = it is not. */
  readonly malformed: GatehouseError | undefined

  constructor(request: IncomingMessage, { head, malformed }: ReadHead) {
    this.#request = request
    this.#head = head
    this.malformed = malformed
  }

  get peerAddress(): string {
    return unmappedAddress(this.#request.socket.remoteAddress ?? '')
  }

  get protocol(): 'http' | 'https' {
    return this.#request.socket instanceof TLSSocket ? 'https' : 'http'
  }

  get bodyState(): EndpointConnection['bodyState'] {
    if (this.#request.complete) return 'complete'
    return this.#request.readableLength > 0 ? 'buffered' : 'pending'
  }

  /** Not where much of a body would have to be read and thrown away first. */
  canPersist(): boolean {
    const { body, isPersistent, expectsContinue } = this.#head
    if (!isPersistent || this.#request.complete) return isPersistent
    return !expectsContinue && body.kind !== 'chunked' && lengthOf(body) <= discardedBytesMax
  }

  abort(): void {
    this.#request.socket.destroy()
  }
}

function lengthOf(body: RequestHead['body']): number {
  return body.kind === 'counted' ? body.length : 0
}
