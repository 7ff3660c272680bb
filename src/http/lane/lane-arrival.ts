import type { Carriers } from '../../auth/carriers.ts'
import { type Credential, type Credentials, noCredentials } from '../../auth/credentials.ts'
import type { AllowedDecision } from '../../auth/decision.ts'
import type { ClientExchange } from '../../exchange/client-exchange.ts'
import type { RequestHead } from '../../exchange/request-head.ts'
import type { Client } from '../../proxy/client.ts'
import type { ForwardEvents, ForwardedRequest, ForwardTerms } from '../../proxy/forwarded-request.ts'
import { OutgoingRequest } from '../../proxy/outgoing-request.ts'
import type { Route } from '../../routes/route.ts'
import type { BodyProgress } from '../../upstream/pool/claim.ts'
import type { Upstream } from '../../upstream/upstream.ts'
import type { Arrival } from '../arrival.ts'
import {
  createOutcome,
  type Destination,
  destinationOf,
  type Outcome,
  principalOf,
  recordDecision,
  recordDestination,
  recordRoute,
} from '../outcome.ts'
import { noUncommonFields, type RequestFields, type UncommonFields } from '../request-fields.ts'
import { createRequestId } from '../request-id.ts'

/** What all requests of a config are forwarded by. */
export interface Forwarding {
  readonly terms: ForwardTerms
  readonly events: ForwardEvents<LaneArrival>
}

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
  readonly forwarding: Forwarding
}

/**
 * An ordinary request as all parts see it that know requests: in one object. Its client is the peer of its connection, it has
 * none of the uncommon fields, and nothing of it is rewritten.
 */
export abstract class LaneArrival
  extends OutgoingRequest<ForwardedRequest>
  implements Arrival, RequestFields, Client, ForwardedRequest
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
  protected readonly forwarding: Forwarding
  /** For the target, without Host: set before it is forwarded. */
  headerLines = ''

  constructor(connection: ClientExchange, head: RequestHead, found: LaneDecision) {
    super()
    this.connection = connection
    this.head = head
    this.requestId = createRequestId()
    this.arrivedAt = found.arrivedAt
    this.host = found.host
    this.route = found.route
    this.decision = found.decision
    this.credentials = found.credential ?? noCredentials
    this.carriers = found.carriers
    this.forwarding = found.forwarding
    this.outcome = createOutcome()
    recordDestination(this.outcome, found.destination)
    recordRoute(this.outcome, found.route)
    recordDecision(this.outcome, found.decision)
  }

  protected get request(): this {
    return this
  }

  get arrival(): this {
    return this
  }

  get terms(): ForwardTerms {
    return this.forwarding.terms
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

  override get accountId(): string | undefined {
    return principalOf(this.outcome)?.accountId
  }

  get destination(): Destination {
    return destinationOf(this.outcome)
  }

  get bodyProgress(): BodyProgress {
    return 'complete'
  }

  override get isUpgrade(): boolean {
    return false
  }

  override get isLast(): boolean {
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
