import type { Target } from '#http/upstream/target.ts'
import type { Access } from '#identity/access.ts'
import type { Credentials } from '#identity/credentials.ts'
import type { Decision, Principal } from '#identity/decision.ts'
import type { Trace } from '#ops/tracing/tracer.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import type { Allowance, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { copyString } from '#platform/text.ts'
import type { MonotonicMs } from '#platform/time.ts'
import { type BrowserAccess, type GatedRoute, unmatchedRouteName } from '../routes/route.ts'
import type { Destination } from '../routes/table.ts'
import type { CorsHeaders } from './cors.ts'

/** What a trace says of a target. */
export type SentTo = Pick<Target, 'origin' | 'basePath' | 'name'>

/**
 * What became of a request: the decision, and what its log line, metrics and trace say. Only written by this file;
 * `allowances` grows while limits are counted.
 */
export interface Outcome {
  /** undefined until it has been read, and found unambiguous. */
  readonly destination: Destination | undefined
  /** The CORS headers of its response; undefined = left to the upstream. */
  readonly corsHeaders: CorsHeaders | undefined
  /** Name of the route, `_gateway` or `_unmatched`. */
  readonly route: string
  /** Index of the matched route in its table; undefined = it is in none. */
  readonly routeIndex: number | undefined
  /** Access of the matched route; undefined until it is found. */
  readonly access: Access | undefined
  /** What the matched route offers to browsers; undefined = nothing, or it is not found yet. */
  readonly browser: BrowserAccess | undefined
  /** The credentials that decide, if they may differ from those of the fields: see credentialsOf. */
  readonly credentials: Credentials | undefined
  /** Authentication and authorisation result; undefined until it is decided. */
  readonly decision: Decision | undefined
  /** What the caller has left of each limit that it was counted against; undefined = no limit applies. */
  readonly allowances: Allowance[] | undefined
  readonly upstream: string | undefined
  /** The trace context, once the request is admitted; undefined = not traced. */
  readonly trace: Trace | undefined
  /** The status of the response, once there is one. */
  readonly status: number | undefined
  readonly code: ErrorCode | undefined
  /** Why it failed; for the log. */
  readonly reason: string | undefined
  /** The account of a sign-in. */
  readonly accountId: string | undefined
  /** An unexpected error: a bug in the gateway. */
  readonly fault: unknown
  /**
   * The target that it was sent to; undefined = it was sent to none, or there is no tracing, which alone reads this.
   */
  readonly sentTo: SentTo | undefined
  /** Whether its backend may have taken it for a call of gRPC, which is followed then. */
  readonly mayBeGrpcCall: boolean
  /** When it was sent to the upstream, and when the complete response had arrived. */
  readonly sentAt: MonotonicMs | undefined
  readonly answeredAt: MonotonicMs | undefined
  /** Called once the whole response has been written to an open connection; never if that fails first. */
  readonly onSent: (() => void) | undefined
}

/**
 * The mutable form, for this module only. TypeScript accepts an Outcome for it, as `readonly` does not affect
 * assignability.
 */
type Writable = { -readonly [Name in keyof Outcome]: Outcome[Name] }

/** nginx's status for a client that disconnected before the response. Never sent. */
export const clientClosedRequest = 499

/** The outcome of a request before anything has been decided. */
export function createOutcome(): Outcome {
  return {
    destination: undefined,
    corsHeaders: undefined,
    route: unmatchedRouteName,
    routeIndex: undefined,
    access: undefined,
    browser: undefined,
    credentials: undefined,
    decision: undefined,
    allowances: undefined,
    upstream: undefined,
    trace: undefined,
    status: undefined,
    code: undefined,
    reason: undefined,
    accountId: undefined,
    fault: undefined,
    sentTo: undefined,
    mayBeGrpcCall: false,
    sentAt: undefined,
    answeredAt: undefined,
    onSent: undefined,
  }
}

export function recordDestination(outcome: Writable, destination: Destination): void {
  outcome.destination = destination
}

export function recordCorsHeaders(outcome: Writable, corsHeaders: CorsHeaders | undefined): void {
  outcome.corsHeaders = corsHeaders
}

export function recordRouteName(outcome: Writable, name: string): void {
  outcome.route = name
  outcome.routeIndex = undefined
}

export function recordRoute(outcome: Writable, { name, index, access, browser }: GatedRoute): void {
  outcome.route = name
  outcome.routeIndex = index
  outcome.access = access
  outcome.browser = browser
}

/** Records the credentials that the route reads. */
export function recordCredentials(outcome: Writable, credentials: Credentials): void {
  outcome.credentials = credentials
}

export function recordDecision(outcome: Writable, decision: Decision): void {
  outcome.decision = decision
  if (decision.kind === 'refused') outcome.reason = decision.reason ?? outcome.reason
}

/** Begins the list of what a caller has left of each limit. */
export function beginAllowances(outcome: Writable): Allowance[] {
  outcome.allowances = []
  return outcome.allowances
}

/** Keeps the response from telling of limits that were not exceeded. */
export function forgetAllowances(outcome: Writable): void {
  outcome.allowances = undefined
}

export function recordUpstream(outcome: Writable, name: string): void {
  outcome.upstream = name
}

export function recordTrace(outcome: Writable, trace: Trace): void {
  outcome.trace = trace
}

/** @param sentTo for its span */
export function recordSent(outcome: Writable, now: MonotonicMs, sentTo?: SentTo): void {
  outcome.sentTo = sentTo
  outcome.sentAt = now
}

export function recordGrpcCall(outcome: Writable): void {
  outcome.mayBeGrpcCall = true
}

export function recordAnswered(outcome: Writable, now: MonotonicMs): void {
  outcome.answeredAt = now
}

export function recordStatus(outcome: Writable, status: number): void {
  outcome.status = status
}

export function recordReason(outcome: Writable, reason: string): void {
  outcome.reason = reason
}

export function recordOnSent(outcome: Writable, onSent: () => void): void {
  outcome.onSent = onSent
}

/** Records the account of a sign-in. */
export function recordAccount(outcome: Writable, accountId: string): void {
  outcome.accountId = accountId
}

export function recordFailure(outcome: Writable, error: GatehouseError): void {
  const { code, cause } = error
  outcome.code = code
  if (error.accountId !== undefined) outcome.accountId = error.accountId
  if (code === 'internal') outcome.fault = cause ?? error
  outcome.reason ??= cause instanceof Error ? cause.message : error.rate && limitNames.get(error.rate.policy)
}

/** Of limits that have the same code: the rate of a route needs no name, as the line has the route. */
const limitNames: ReadonlyMap<string, string> = new Map([
  ['plan-rate', 'the rate of the plan'],
  ['key-quota', 'the quota of the key'],
  ['quota', 'the quota of the plan'],
])

/** Drops what is only needed until the response begins, and copies the texts that are logged. */
export function forgetTexts(outcome: Writable): void {
  const { target } = destinationOf(outcome)
  const { hasParameters, hasEncodedSlash, hasEmptySegment } = target
  const sentPath = copyString(target.sentPath)
  outcome.destination = {
    hostName: '',
    target: { path: sentPath, sentPath, query: '', hasParameters, hasEncodedSlash, hasEmptySegment },
  }
  outcome.credentials = undefined
  outcome.corsHeaders = undefined
}

/** The destination of a request, which `chooseHandler` or the fast lane has read and recorded. */
export function destinationOf({ destination }: Outcome): Destination {
  if (destination === undefined) throw new Error('a request without a destination')
  return destination
}

/** The caller, once authenticated; undefined = anonymous. */
export function principalOf({ decision }: Outcome): Principal | undefined {
  return decision?.kind === 'allowed' ? decision.principal : undefined
}
