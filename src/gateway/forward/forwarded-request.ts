import type { Socket } from 'node:net'
import type { BodyProgress } from '#http/client-exchange.ts'
import type { BodyTooSlow, MalformedMessage, RequestBody } from '#http/request-head.ts'
import type { Target } from '#http/upstream/target.ts'
import type { Upstream } from '#http/upstream/upstream.ts'
import type { UpstreamRequest } from '#http/upstream/upstream-request.ts'
import { clientNetwork } from '#platform/addresses.ts'
import type { Allowance, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { MonotonicMs } from '#platform/time.ts'
import type { Arrival } from '../arrival/arrival.ts'
import type { CorsHeaders } from '../arrival/cors.ts'
import type { RequestTarget } from '../routes/request-target.ts'
import { type Route, upstreamTarget } from '../routes/route.ts'
import type { WorkerScopes } from '../routes/worker-scopes.ts'
import type { OwnCookies, StickyCookies } from './own-cookies.ts'
import type { HeldBody } from './pending-body.ts'
import type { CostSources } from './response-cost.ts'
import type { StrippedPrefix } from './stripped-prefix.ts'
import type { RequestWriter } from './upstream-head.ts'

/** What all requests of one config are forwarded with. */
export interface ForwardTerms {
  /** Field lines for the upstream, from name, value, name, value. */
  readonly writeTrailers: RequestWriter['writeTrailers']
  /** Cookies that the upstream may not set. */
  readonly ownCookies: OwnCookies
  /** undefined = no upstream is sticky. */
  readonly stickyCookies: StickyCookies | undefined
  /** The service workers that could reach the portal; undefined = there is no portal on this origin. */
  readonly portalScopes: WorkerScopes | undefined
}

/** What a backend is told of the second targets of a request, which have passed. */
export interface SecondTargets {
  /** Each ended by CR LF. */
  readonly lines: string
  /** A Destination below the base path of the target; undefined = there is none. */
  readonly destination: BackendDestination | undefined
}

/** A Destination whose path is one of the backend's own. */
interface BackendDestination {
  /** Such as `https://api.example.com`; undefined = that of the target. */
  readonly origin: string | undefined
  /** With the query, without the base path. */
  readonly path: string
}

/** An admitted request and its upstream. */
export interface ForwardedRequest extends CostSources {
  /** The parts of an arrival that forwarding needs. */
  readonly arrival: Pick<Arrival, 'exchange' | 'head' | 'requestId' | 'client' | 'fields'>
  readonly route: Pick<
    Route<Upstream>,
    | 'upstream'
    | 'prefix'
    | 'rewrite'
    | 'depth'
    | 'bodyBytesMax'
    | 'responseTimeoutMs'
    | 'idleTimeoutMs'
    | 'passesTrailers'
    | 'caching'
    | 'responseHeaders'
  >
  readonly terms: ForwardTerms
  /** The destination that the client named; the route decides what the upstream gets. */
  readonly destination: { readonly target: RequestTarget }
  /** undefined = the request names none. */
  readonly secondTargets: SecondTargets | undefined
  /** Header lines for the upstream, all but Host and those of second targets. */
  readonly headerLines: string
  /** Whether these lines say that no request follows on the connection. */
  readonly isLast: boolean
  /** The start of the client's path that the upstream does not see as it is; undefined = it sees all of it. */
  readonly strippedPrefix: StrippedPrefix | undefined
  /** The calling account; undefined = anonymous. */
  readonly accountId: string | undefined
  readonly isUpgrade: boolean
  /** Whether both sides may pause as they like, as in a call of gRPC: its body is not waited for, nor timed. */
  readonly isConversation: boolean
  /** Whether a stream of events ends when the credential of its caller does. */
  readonly isFollowed: boolean
  /** The CORS headers of the response; undefined = those of the upstream. */
  readonly corsHeaders: CorsHeaders | undefined
  /** Its body, or the beginning, as far as it has been read before; undefined = nothing of it has. */
  readonly heldBody: HeldBody | undefined
  /** What the caller has left of each limit, for the response; undefined = no limit applies. */
  readonly allowances: readonly Allowance[] | undefined
  /**
   * The Set-Cookie line that renews the access cookie, ended by CR LF; empty if it need not be renewed. Undefined =
   * the request was not admitted by that cookie.
   */
  readonly renewCookie: (() => string) | undefined
}

/** Events of a forwarded request; one of the last three is called, once, unless the client disconnects. */
export interface ForwardEvents<Forwarded extends ForwardedRequest> {
  /** The request is being sent. */
  onSent(forwarded: Forwarded, now: MonotonicMs, target: Target): void
  /** The head of the response has arrived. */
  onResponseHead(forwarded: Forwarded, status: number): void
  /** The response of a server of gRPC has begun. */
  onGrpcResponse(forwarded: Forwarded): void
  /** A stream of events has begun, and is followed. @returns what to call once it is over */
  onEventStream(forwarded: Forwarded): () => void
  /** On a route whose responses say their cost, once: the units they say, or one if it has ended without saying so. */
  onUnits(forwarded: Forwarded, units: number): void
  /** The whole response has been forwarded. */
  onResponseEnd(forwarded: Forwarded): void
  /** There is no response, or it cannot be forwarded completely. */
  onFailed(forwarded: Forwarded, error: GatehouseError | MalformedMessage | BodyTooSlow): void
  /** 101 Switching Protocols: both sockets now belong to a tunnel. */
  onUpgraded(forwarded: Forwarded, upgrade: UpgradeResponse): void
}

export interface UpgradeResponse {
  readonly reason: string
  readonly headerLines: string
  readonly upstreamSocket: Socket
  /** What the upstream sent right after its head. */
  readonly firstBytes: Buffer
}

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
    return isDirect(this.request) ? this.request.arrival.exchange.socket : undefined
  }

  get clientSession(): object | undefined {
    return isDirect(this.request) ? this.request.arrival.exchange.session : undefined
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

/** Whether the client itself holds the connection: a proxy may send requests of many clients on one. */
function isDirect({ arrival: { client, exchange } }: ForwardedRequest): boolean {
  return client.address === exchange.peerAddress
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
