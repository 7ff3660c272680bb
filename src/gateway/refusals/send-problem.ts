import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ClientExchange, UnreadableHead } from '#http/client-exchange.ts'
import { BodyTooSlow, HeadTooLarge, type MalformedMessage, type Unreadable } from '#http/request-head.ts'
import { createCarriers, proofCarrier } from '#identity/carriers.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { allowanceLines, STATUS_CODES } from '#platform/http.ts'
import { type Arrival, credentialsOf, type GatedArrival } from '../arrival/arrival.ts'
import { arrivalOf } from '../arrival/endpoint-arrival.ts'
import { recordFailure, recordStatus } from '../arrival/outcome.ts'
import { createRequestId } from '../arrival/request-id.ts'
import { type ChallengeContext, challenges, isRegistryPath } from './challenges.ts'
import { answerTrailersOnly, endGrpcCall, grpcStatusLines, isGrpcCall } from './grpc-calls.ts'
import {
  completeText,
  describeProblem,
  hasChallenge,
  type Problem,
  type ProblemContext,
  type ProblemText,
  problemText,
  renderErrorPage,
} from './problem-text.ts'

/**
 * Builds the response to a failed request to one of the gateway's own endpoints, and records the failure for its log
 * line.
 */
export function createProblem(arrival: GatedArrival, error: GatehouseError): Problem {
  recordFailure(arrival.outcome, error)
  return describeProblem(error, contextOf(arrival, error))
}

/** What a problem depends on besides its error. */
function contextOf(
  arrival: GatedArrival,
  { rate }: GatehouseError,
  isRegistry = false,
  sentStatus?: number,
): ProblemContext {
  const { outcome, requestId, carriers } = arrival
  const { access, corsHeaders, allowances } = outcome
  const credentials = credentialsOf(arrival)
  const isProof = credentials.kind === 'bearer' && credentials.carrier === proofCarrier
  // A request that has exceeded a limit tells of that one alone.
  const extraLines = (corsHeaders?.lines ?? '') + (rate ? '' : allowanceLines(allowances))
  return { requestId, access, carriers, isRegistry, isProof, sentStatus, extraLines }
}

/** Answers a request to one of the gateway's own endpoints with a problem, or aborts a started response. */
export function sendProblem(request: IncomingMessage, response: ServerResponse, error: GatehouseError): void {
  const arrival = arrivalOf(request)
  const { status, headers, body } = createProblem(arrival, error)
  if (response.headersSent) {
    arrival.exchange.abort()
    return
  }
  applyKeepAlive(request, response)
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}

/**
 * Ends the connection with the response if no other request may follow on it. To be called before every response that
 * does not depend on the body of its request, which may not have arrived.
 */
export function applyKeepAlive(request: IncomingMessage, response: ServerResponse): void {
  if (!arrivalOf(request).exchange.canPersist()) response.shouldKeepAlive = false
}

/**
 * Answers with a problem, or aborts a started response.
 * @param sentStatus the status to send, even to a gRPC call, whose refusal otherwise has status 200; undefined = that
 *   of the error, which is logged in either case
 */
export function answerProblem(arrival: Arrival, error: GatehouseError, sentStatus?: number): void {
  const { exchange, outcome, carriers } = arrival
  recordFailure(outcome, error)
  if (!exchange.isHeadSent) recordStatus(outcome, error.status)
  if (sentStatus === undefined && exchange.isHttp2 && isGrpcCall(arrival.head)) {
    endGrpcCall(arrival, grpcStatusLines(error))
    return
  }
  if (exchange.isHeadSent) {
    exchange.abort()
    return
  }
  const isRegistry = isRegistryPath(outcome.destination?.target.path, carriers)
  const text = problemText(error, contextOf(arrival, error, isRegistry, sentStatus))
  writeAnswer(exchange, sentStatus ?? error.status, text)
}

/** Without a request there is no route, and so no challenge. */
const beforeArrival = { access: undefined, carriers: createCarriers([]), isRegistry: false, isProof: false }

/**
 * Answers with an error page, for a person in a browser.
 * @param portalLink a path, or a URL if the portal has a host of its own; undefined = there is no portal
 * @param extraLines more field lines
 */
export function answerErrorPage(
  arrival: Arrival,
  error: GatehouseError,
  portalLink: string | undefined,
  extraLines = '',
): void {
  const { exchange, outcome, requestId } = arrival
  recordFailure(outcome, error)
  recordStatus(outcome, error.status)
  const context = contextOf(arrival, error)
  const page = renderErrorPage(error, requestId, portalLink)
  const lines = extraLines + challengeLines(error, context) + context.extraLines
  writeAnswer(exchange, error.status, completeText(page, lines))
}

/** A page has challenges too (RFC 9110 15.5.2), except Basic, for which browsers would open a password dialog. */
function challengeLines(error: GatehouseError, context: ChallengeContext): string {
  if (!hasChallenge(error)) return ''
  return challenges(error.code, context)
    .filter((challenge) => !challenge.startsWith('Basic'))
    .map((challenge) => `WWW-Authenticate: ${challenge}\r\n`)
    .join('')
}

function writeAnswer(exchange: ClientExchange, status: number, { lines, body }: ProblemText): void {
  const isHead = exchange.head?.method === 'HEAD'
  exchange.respond(status, STATUS_CODES[status] ?? '', lines, isHead ? 'none' : 'counted')
  exchange.end(body)
}

/** Turns any error into one that clients may see: an unknown error becomes `internal`, without its message. */
export function toGatehouseError(error: unknown): GatehouseError {
  return error instanceof GatehouseError ? error : new GatehouseError('internal', { cause: error })
}

/** The response to a request that could not be parsed. */
export interface UnreadableRefusal {
  readonly requestId: string
  readonly error: GatehouseError
}

/**
 * Answers a request that could not be parsed, and closes the connection.
 * @param head of what may be a call of gRPC; undefined = it is none
 */
export function refuseUnreadable(
  exchange: ClientExchange,
  what: Unreadable,
  head: UnreadableHead | undefined,
): UnreadableRefusal {
  const requestId = createRequestId()
  const error = unreadableError(what)
  if (head && isGrpcCall(head)) answerTrailersOnly(exchange, requestId, grpcStatusLines(error))
  else writeAnswer(exchange, error.status, problemText(error, { requestId, ...beforeArrival }))
  return { requestId, error }
}

/** The whole response to plain HTTP on a TLS port. The socket has no HTTP connection, and is closed after it. */
export function refusePlainHttp(): UnreadableRefusal & { readonly answer: string } {
  const requestId = createRequestId()
  const detail = 'This port speaks HTTPS only: use https:// instead of http://.'
  const error = new GatehouseError('request-invalid', {
    detail,
    cause: new Error('plain HTTP on a TLS port'),
  })
  const { status } = error
  const { lines, body } = problemText(error, { requestId, ...beforeArrival })
  const answer = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}Connection: close\r\n\r\n${body}`
  return { requestId, error, answer }
}

function unreadableError(what: Unreadable): GatehouseError {
  if (what === 'timeout') return new GatehouseError('request-timeout')
  return what instanceof HeadTooLarge ? new GatehouseError('headers-too-large') : malformedError(what)
}

/** The error for a body that could not be read to its end. */
export function brokenBodyError(cause: MalformedMessage | BodyTooSlow): GatehouseError {
  return cause instanceof BodyTooSlow
    ? new GatehouseError('request-timeout', { cause })
    : malformedError(cause)
}

/** The error for a message that is not a well-formed request. */
export function malformedError(cause: MalformedMessage): GatehouseError {
  return new GatehouseError('request-invalid', {
    detail: 'This is not a well-formed HTTP request.',
    errors: [{ field: cause.field, message: cause.message }],
    cause,
  })
}
