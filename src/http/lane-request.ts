import type { Socket } from 'node:net'
import type { Carriers } from '../auth/carriers.ts'
import { type Credential, type Credentials, noCredentials } from '../auth/credentials.ts'
import type { AllowedDecision } from '../auth/decision.ts'
import type { ClientExchange, ResponseFraming } from '../exchange/client-exchange.ts'
import type { RequestEvents } from '../exchange/request-events.ts'
import type { RequestBody, RequestHead } from '../exchange/request-head.ts'
import { clientNetwork } from '../platform/client-network.ts'
import { monotonicClock } from '../platform/clock.ts'
import type { Client } from '../proxy/client.ts'
import { forward, forwardSent } from '../proxy/forward.ts'
import type { ForwardEvents, ForwardedRequest, ForwardTerms } from '../proxy/forwarded-request.ts'
import { forwardedRequestHead } from '../proxy/forwarded-request-head.ts'
import { forwardedResponseLines } from '../proxy/forwarded-response.ts'
import type { Route } from '../routes/route.ts'
import type { BalancingClient } from '../upstream/balancer.ts'
import type { ExchangeEvents, RequestOptions } from '../upstream/exchange.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'
import type { BodyProgress, PoolUser } from '../upstream/pool/claim.ts'
import type { ResponseHead } from '../upstream/response-head.ts'
import type { Target } from '../upstream/target.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { UpstreamConnection } from '../upstream/upstream-connection.ts'
import type { Arrival } from './arrival.ts'
import {
  createOutcome,
  type Destination,
  destinationOf,
  type Outcome,
  principalOf,
  recordAnswered,
  recordDecision,
  recordDestination,
  recordRoute,
  recordSent,
  recordStatus,
  recordUpstream,
} from './outcome.ts'
import { noUncommonFields, type RequestFields, type UncommonFields } from './request-fields.ts'
import { createRequestId } from './request-id.ts'

/** What the fast lane has found out about a request. */
export interface LaneDecision {
  readonly arrivedAt: number
  /** As it was sent. */
  readonly host: string
  readonly destination: Destination
  readonly route: Route<Upstream>
  readonly decision: AllowedDecision
  /** undefined = anonymous. */
  readonly credential: Credential | undefined
  readonly carriers: Carriers
}

/**
 * A request that was decided about in one go (fast-lane.ts): its arrival and its exchange with the target in one object. Its
 * client is the peer of its connection, and it has none of the uncommon fields. It is sent on a connection that is idle;
 * where there is none, or more than passing a response of known length on is to be done, the rest of the exchange is that
 * of any other request (proxy/forward.ts).
 */
export class LaneRequest
  implements
    Arrival,
    RequestFields,
    Client,
    ForwardedRequest,
    RequestOptions,
    PoolUser,
    BalancingClient,
    RequestEvents,
    ExchangeEvents
{
  readonly connection: ClientExchange
  readonly head: RequestHead
  readonly requestId: string
  readonly arrivedAt: number
  readonly host: string
  readonly route: Route<Upstream>
  readonly decision: AllowedDecision
  readonly credentials: Credentials
  readonly carriers: Carriers
  readonly outcome: Outcome
  /** For the target, without Host: set before it is forwarded. */
  headerLines = ''
  #forwarding: Forwarding | undefined
  #target: Target | undefined
  #upstreamConnection: UpstreamConnection | undefined

  constructor(connection: ClientExchange, head: RequestHead, found: LaneDecision) {
    this.connection = connection
    this.head = head
    this.requestId = createRequestId()
    this.arrivedAt = found.arrivedAt
    this.host = found.host
    this.route = found.route
    this.decision = found.decision
    this.credentials = found.credential ?? noCredentials
    this.carriers = found.carriers
    this.outcome = createOutcome()
    recordDestination(this.outcome, found.destination)
    recordRoute(this.outcome, found.route)
    recordDecision(this.outcome, found.decision)
  }

  /** @throws nothing: what goes wrong is an event */
  forward(forwarding: Forwarding): void {
    const { route, head, outcome } = this
    this.#forwarding = forwarding
    recordUpstream(outcome, route.upstream.name, undefined)
    if (head.body.kind !== 'none' || route.upstream.config.protocol !== 'http1') {
      forward(this, forwarding.events)
      return
    }
    const target = route.upstream.chooseTarget(this, none)
    const now = monotonicClock()
    const idle = target && target.health?.isEjected !== true ? target.pool.takeIdle(this, now) : undefined
    if (target === undefined || idle === undefined) {
      forward(this, forwarding.events, target)
      return
    }
    target.inFlight++
    this.#target = target
    this.#upstreamConnection = idle
    this.connection.attach(this)
    idle.start(forwardedRequestHead(this, target), this, this, now)
    recordSent(outcome, now)
  }

  /** From now on it is an exchange like any other. @param isAnswered whether the head of the response was passed on */
  #handOver(isAnswered: boolean): ExchangeEvents {
    const { events } = this.#known()
    const target = this.#target
    const connection = this.#upstreamConnection
    if (target === undefined || connection === undefined) throw new Error('a request that was not sent')
    return forwardSent(this, events, { target, connection, isAnswered })
  }

  #known(): Forwarding {
    if (this.#forwarding === undefined) throw new Error('a request that was not forwarded')
    return this.#forwarding
  }

  onInformation(received: ResponseHead): void {
    this.#handOver(false).onInformation(received)
  }

  onHead(received: ResponseHead, framing: ResponseFraming): void {
    if (framing !== 'none' && framing !== 'counted') {
      this.#handOver(false).onHead(received, framing)
      return
    }
    const { status, reason } = received
    recordStatus(this.outcome, status)
    const lines = forwardedResponseLines(this, received, this.#target?.origin ?? '', false)
    this.connection.respond(status, reason, lines, framing)
  }

  onData(chunk: Buffer): void {
    if (!this.connection.write(chunk)) this.#upstreamConnection?.pause()
  }

  onRead(): boolean {
    if (!this.connection.flush()) this.#upstreamConnection?.pause()
    return this.connection.hasWrittenAll
  }

  onEnd(_trailers: readonly string[], last?: string): void {
    this.#settle()
    recordAnswered(this.outcome, monotonicClock())
    this.connection.end(last)
  }

  onUpgrade(): void {
    throw new Error('an upgrade that nobody has asked for')
  }

  onFailure(failure: UpstreamFailure): void {
    this.#handOver(this.outcome.status !== undefined).onFailure(failure)
  }

  onClientDrain(): void {
    this.#upstreamConnection?.resume()
  }

  onAbort(): void {
    this.#upstreamConnection?.destroy()
    this.#settle()
  }

  #settle(): void {
    if (this.#target) this.#target.inFlight--
    this.#target = undefined
    this.#upstreamConnection = undefined
    this.connection.attach(undefined)
  }

  /** These never happen: it has no body. */
  onBodyData(): void {}
  onBodyEnd(): void {}
  onBodyError(): void {}
  onDrain(): void {}
  isChunkReleased(): boolean {
    return true
  }

  get arrival(): this {
    return this
  }

  get fields(): RequestFields {
    return this
  }

  get client(): Client {
    return this
  }

  get uncommon(): UncommonFields {
    return noUncommonFields
  }

  get hasAuthorization(): boolean {
    return this.credentials.kind === 'bearer'
  }

  get isTrusted(): boolean {
    return false
  }

  get address(): string {
    return this.connection.peerAddress
  }

  get forwardedFor(): string {
    return this.connection.peerAddress
  }

  get protocol(): string {
    return this.connection.protocol
  }

  get clientAddress(): string {
    return this.connection.peerAddress
  }

  get clientNetwork(): string {
    return clientNetwork(this.connection.peerAddress)
  }

  get clientSocket(): Socket | undefined {
    return this.connection.socket
  }

  get clientSession(): object | undefined {
    return this.connection.session
  }

  get accountId(): string | undefined {
    return principalOf(this.outcome)?.accountId
  }

  get destination(): Destination {
    return destinationOf(this.outcome)
  }

  get terms(): ForwardTerms {
    return this.#known().terms
  }

  get method(): string {
    return this.head.method
  }

  get body(): RequestBody['kind'] {
    return this.head.body.kind
  }

  get bodyProgress(): BodyProgress {
    return 'complete'
  }

  get responseTimeoutMs(): number {
    return this.route.responseTimeoutMs
  }

  get idleTimeoutMs(): number {
    return this.route.idleTimeoutMs
  }

  get bindsConnection(): boolean {
    return false
  }

  get expectsContinue(): boolean {
    return false
  }

  get isUpgrade(): boolean {
    return false
  }

  get isLast(): boolean {
    return false
  }

  get isFollowed(): boolean {
    return false
  }

  get secondTargets(): undefined {
    return undefined
  }

  get strippedPrefix(): undefined {
    return undefined
  }

  get corsHeaders(): undefined {
    return undefined
  }

  get costField(): undefined {
    return undefined
  }
}

/** What all requests of a config are forwarded by. */
export interface Forwarding {
  readonly terms: ForwardTerms
  readonly events: ForwardEvents<LaneRequest>
}

const none: readonly Target[] = []
