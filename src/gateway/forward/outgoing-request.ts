import type { Socket } from 'node:net'
import type { RequestBody } from '#http/request-head.ts'
import type { BodyProgress } from '#http/upstream/pool/claim.ts'
import type { Target, UpstreamRequest } from '#http/upstream/target.ts'
import { clientNetwork } from '#platform/addresses.ts'
import { upstreamTarget } from '../routes/route.ts'
import type { ForwardedRequest, SecondTargets } from './forwarded-request.ts'

/** A forwarded request as its upstream sees it. Getters copy nothing, as most values are read once or never. */
export abstract class OutgoingRequest<Forwarded extends ForwardedRequest> implements UpstreamRequest {
  abstract readonly request: Forwarded

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

  /** Whether the client itself holds the connection: a proxy may send requests of many clients on one. */
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

  get targetIds(): readonly string[] {
    const { arrival, route, terms } = this.request
    return terms.stickyCookies?.read(arrival.head.rawHeaders, route.upstream.name) ?? []
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

/** The whole head for a target, with the empty line at its end. */
function forwardedRequestHead(
  { arrival, route, destination, secondTargets, headerLines }: ForwardedRequest,
  { authority, origin, basePath }: Pick<Target, 'authority' | 'origin' | 'basePath'>,
): string {
  const { method } = arrival.head
  const sentHost = route.upstream.host === 'client' ? (arrival.fields.host ?? '') : authority
  const lines =
    secondTargets === undefined
      ? headerLines
      : secondTargetLines(secondTargets, { origin, basePath, sentHost }) + headerLines
  const target = upstreamTarget(route, destination.target)
  return `${method} ${basePath}${target} HTTP/1.1\r\nHost: ${sentHost}\r\n${lines}\r\n`
}

/** @param target its origin and base path, such as `http://10.0.0.11:3000` and `/base`, and the Host that it is sent */
export function secondTargetLines(
  { lines, destination }: SecondTargets,
  { origin, basePath, sentHost }: Pick<Target, 'origin' | 'basePath'> & { readonly sentHost: string },
): string {
  if (destination === undefined) return lines
  const sentOrigin = destination.origin ?? `${origin.slice(0, origin.indexOf('//'))}//${sentHost}`
  return `Destination: ${sentOrigin}${basePath}${destination.path}\r\n${lines}`
}
