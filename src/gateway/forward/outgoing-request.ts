import type { Socket } from 'node:net'
import type { RequestBody } from '#http/exchange/request-head.ts'
import type { BodyProgress } from '#http/upstream/pool/claim.ts'
import type { Target, UpstreamRequest } from '#http/upstream/target.ts'
import { clientNetwork } from '#platform/addresses.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { forwardedRequestHead } from './forwarded-request-head.ts'

/** A forwarded request as its upstream sees it: nothing is copied, as most of it is read once, if at all. */
export abstract class OutgoingRequest<Forwarded extends ForwardedRequest> implements UpstreamRequest {
  protected abstract readonly request: Forwarded

  abstract get bodyProgress(): BodyProgress

  get method(): string {
    return this.request.arrival.head.method
  }

  get body(): RequestBody['kind'] {
    return this.request.arrival.head.body.kind
  }

  get expectsContinue(): boolean {
    return this.request.arrival.head.expectsContinue
  }

  get isUpgrade(): boolean {
    return this.request.isUpgrade
  }

  get isLast(): boolean {
    return this.request.isLast
  }

  get bindsConnection(): boolean {
    return this.request.arrival.fields.uncommon.bindsConnection
  }

  get clientSocket(): Socket | undefined {
    return this.#isDirect ? this.request.arrival.connection.socket : undefined
  }

  get clientSession(): object | undefined {
    return this.#isDirect ? this.request.arrival.connection.session : undefined
  }

  /** Whether the connection is that of the client: a proxy may send the requests of many on its own. */
  get #isDirect(): boolean {
    const { client, connection } = this.request.arrival
    return client.address === connection.peerAddress
  }

  get responseTimeoutMs(): number {
    return this.request.route.responseTimeoutMs
  }

  get idleTimeoutMs(): number {
    return this.request.route.idleTimeoutMs
  }

  get clientAddress(): string {
    return this.request.arrival.client.address
  }

  get clientNetwork(): string {
    return clientNetwork(this.request.arrival.client.address)
  }

  get accountId(): string | undefined {
    return this.request.accountId
  }

  headFor(target: Target): string {
    return forwardedRequestHead(this.request, target)
  }
}
