import type { BodyProgress, ClientExchange } from '#http/client-exchange.ts'
import type { MarkedHead } from '#http/server/marked-head.ts'
import type { Upstream } from '#http/upstream/upstream.ts'
import { bearerCarrier, type Carriers } from '#identity/carriers.ts'
import { type Credential, type Credentials, noCredentials } from '#identity/credentials.ts'
import type { Decision } from '#identity/decision.ts'
import type { Allowance } from '#platform/errors/gatehouse-error.ts'
import type { MonotonicMs } from '#platform/time.ts'
import type { Arrival } from '../arrival/arrival.ts'
import type { Client } from '../arrival/client.ts'
import type { CorsHeaders } from '../arrival/cors.ts'
import {
  createOutcome,
  destinationOf,
  type Outcome,
  principalOf,
  recordDecision,
  recordDestination,
  recordRoute,
} from '../arrival/outcome.ts'
import { noUncommonFields, type RequestFields, type UncommonFields } from '../arrival/request-fields.ts'
import {
  type ForwardEvents,
  type ForwardedRequest,
  type ForwardTerms,
  OutgoingRequest,
} from '../forward/forwarded-request.ts'
import { readStrippedPrefix, type StrippedPrefix } from '../forward/stripped-prefix.ts'
import type { Route } from '../routes/route.ts'
import type { Destination } from '../routes/table.ts'

/** Terms and events that all requests of a config are forwarded with. */
export interface Forwarding {
  readonly terms: ForwardTerms
  readonly events: ForwardEvents<LaneArrival>
}

/** What the fast lane has found out about a request. */
export interface LaneFindings {
  readonly arrivedAt: MonotonicMs
  readonly client: Client
  readonly requestId: string
  /** The Host field as it was sent. */
  readonly host: string
  readonly destination: Destination
  readonly route: Route<Upstream>
  readonly decision: Decision
  /** undefined = none came. */
  readonly credential: Credential | undefined
  readonly carriers: Carriers
  readonly forwarding: Forwarding
}

/**
 * An ordinary request as the rest of the gateway sees it: one object that is its arrival, its fields, and the forwarded
 * and the outgoing request. There are none of the uncommon fields, and nothing but the prefix of the path is
 * rewritten. What the lane and the general path send is compared in test/gateway/lane/ordinary-head.test.ts. Members
 * are only declared, as in MarkedHead.
 */
export abstract class LaneArrival
  extends OutgoingRequest<ForwardedRequest>
  implements Arrival, RequestFields, ForwardedRequest
{
  declare readonly exchange: ClientExchange
  declare readonly head: MarkedHead
  declare readonly client: Client
  declare readonly requestId: string
  declare readonly arrivedAt: MonotonicMs
  declare readonly host: string
  declare readonly route: Route<Upstream>
  declare readonly decision: Decision
  declare readonly credentials: Credentials
  declare readonly carriers: Carriers
  declare readonly outcome: Outcome
  declare readonly strippedPrefix: StrippedPrefix | undefined
  declare protected readonly forwarding: Forwarding
  /** The lines for the target, without Host: set before the request is forwarded. */
  declare headerLines: string

  constructor(exchange: ClientExchange, head: MarkedHead, findings: LaneFindings) {
    super()
    this.exchange = exchange
    this.head = head
    this.client = findings.client
    this.requestId = findings.requestId
    this.arrivedAt = findings.arrivedAt
    this.host = findings.host
    this.route = findings.route
    this.decision = findings.decision
    this.credentials = findings.credential ?? noCredentials
    this.carriers = findings.carriers
    this.forwarding = findings.forwarding
    this.headerLines = ''
    this.strippedPrefix = readStrippedPrefix(findings.route, [], false)
    this.outcome = createOutcome()
    recordDestination(this.outcome, findings.destination)
    recordRoute(this.outcome, findings.route)
    recordDecision(this.outcome, findings.decision)
  }

  get request(): this {
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

  get uncommon(): UncommonFields {
    return noUncommonFields
  }

  get hasAuthorization(): boolean {
    const { credentials } = this
    return (
      credentials.kind === 'bearer' ||
      (credentials.kind === 'secretKey' && credentials.carrier === bearerCarrier)
    )
  }

  override get accountId(): string | undefined {
    return principalOf(this.outcome)?.accountId
  }

  get destination(): Destination {
    return destinationOf(this.outcome)
  }

  get bodyProgress(): BodyProgress {
    return 'whole'
  }

  override get isUpgrade(): boolean {
    return false
  }

  override get isLast(): boolean {
    return false
  }

  get isConversation(): boolean {
    return false
  }

  get isFollowed(): boolean {
    return false
  }

  get secondTargets(): undefined {
    return undefined
  }

  get allowances(): readonly Allowance[] | undefined {
    return this.outcome.allowances
  }

  get corsHeaders(): CorsHeaders | undefined {
    return this.outcome.corsHeaders
  }

  get renewCookie(): undefined {
    return undefined
  }

  get costField(): undefined {
    return undefined
  }

  get bodyCost(): undefined {
    return undefined
  }

  get heldBody(): undefined {
    return undefined
  }
}
