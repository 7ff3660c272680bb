import type { Socket } from 'node:net'
import type { RequestBody } from '../exchange/request-head.ts'
import { clientNetwork } from '../platform/client-network.ts'
import type { BodyProgress } from '../upstream/pool/claim.ts'
import type { Target } from '../upstream/target.ts'
import type { UpstreamRequest } from '../upstream/upstream-request.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { forwardedRequestHead } from './forwarded-request-head.ts'

/** A forwarded request as its upstream sees it: nothing is copied, as most of it is read once, if at all. */
export abstract class OutgoingRequest<Forwarded extends ForwardedRequest> implements UpstreamRequest {
  protected readonly request: Forwarded

  constructor(request: Forwarded) {
    this.request = request
  }

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

  /** A proxy in front may send the requests of others on its connection. */
  get clientSocket(): Socket | undefined {
    const { client, connection } = this.request.arrival
    return client.address === connection.peerAddress ? connection.socket : undefined
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

  head(target: Target): string {
    return forwardedRequestHead(this.request, target)
  }
}
