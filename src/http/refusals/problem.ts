import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import { type Carriers, createCarriers } from '../../auth/carriers.ts'
import { type ErrorCode, errorDefinitions } from '../../errors/codes.ts'
import { type ExceededRate, GatehouseError } from '../../errors/gatehouse-error.ts'
import type { ClientExchange } from '../../exchange/client-exchange.ts'
import { dateLine } from '../../http1/response-writer.ts'
import { type Arrival, arrivalOf } from '../arrival.ts'
import { recordFailure, recordStatus } from '../outcome.ts'
import { type ChallengeContext, challenges, isRegistryPath } from './challenges.ts'
import { renderErrorPage } from './error-page.ts'
import { grpcStatusLines, isGrpcCall } from './grpc-status.ts'

/** When to try again after a 503, in seconds: the outages behind it are short. */
const retryAfterS = 1

/** Codes that have a challenge, besides every 401 (RFC 6750 3). */
const challengedCodes = new Set(['credentials-ambiguous', 'role-forbidden', 'scope-forbidden'])

/** An error response in problem+json (RFC 9457). */
export interface Problem {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: string
}

interface ProblemContext extends ChallengeContext {
  readonly requestId: string
  /** undefined = the status of the error. */
  readonly sentStatus?: number | undefined
  /** Field lines that do not depend on the failure, each ended by CR LF. */
  readonly extraLines?: string | undefined
}

/** Builds the response to a failed request to a built-in endpoint, and records the failure for its log line. */
export function createProblem(
  { outcome, requestId, carriers }: Arrival<unknown>,
  error: GatehouseError,
): Problem {
  recordFailure(outcome, error)
  return describeProblem(error, { requestId, access: outcome.access, carriers, isRegistry: false })
}

function describeProblem(error: GatehouseError, context: ProblemContext): Problem {
  const { requestId, sentStatus: status = error.status } = context
  const { code, title, detail, errors, allow, rate } = error
  const isChallenge = error.status === 401 || challengedCodes.has(code)
  return {
    status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...(isChallenge && { 'WWW-Authenticate': challenges(code, context) }),
      ...(allow && { Allow: allow.join(', ') }),
      ...(rate && rateHeaders(rate)),
      ...(error.status === 503 && { 'Retry-After': String(retryAfterS) }),
      'X-Request-Id': requestId,
    },
    body: JSON.stringify({ type: `urn:gatehouse:${code}`, title, status, code, detail, requestId, errors }),
  }
}

/** In whole seconds, rounded up: a client that waits that long is never too early. */
function rateHeaders({ limit, remaining, retryMs, resetMs }: ExceededRate): Readonly<Record<string, string>> {
  return {
    'Retry-After': String(Math.max(1, Math.ceil(retryMs / 1_000))),
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(Math.max(1, Math.ceil(resetMs / 1_000))),
  }
}

/** Answers a request to a built-in endpoint with a problem, or aborts a started response. */
export function sendProblem(request: IncomingMessage, response: ServerResponse, error: GatehouseError): void {
  const { status, headers, body } = createProblem(arrivalOf(request), error)
  if (response.headersSent) {
    arrivalOf(request).connection.abort()
    return
  }
  applyKeepAlive(request, response)
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}

/** To be called before every response that does not depend on the body. */
export function applyKeepAlive(request: IncomingMessage, response: ServerResponse): void {
  if (!arrivalOf(request).connection.canPersist()) response.shouldKeepAlive = false
}

/**
 * Answers with a problem, or aborts a started response.
 * @param sentStatus the status that is sent, where it is not that of the error; the log has that of the error
 */
export function answerProblem(arrival: Arrival, error: GatehouseError, sentStatus = error.status): void {
  const { connection, outcome, requestId, carriers } = arrival
  const { access, corsHeaders } = outcome
  recordFailure(arrival.outcome, error)
  const isGrpc = connection.httpVersion === '2' && isGrpcCall(arrival.head)
  if (connection.isHeadSent) {
    if (isGrpc) connection.end(grpcStatusLines(error))
    else connection.abort()
    return
  }
  recordStatus(outcome, error.status)
  if (isGrpc) {
    answerGrpc(arrival, error)
    return
  }
  const isRegistry = isRegistryPath(outcome.destination?.target.path, carriers)
  const extraLines = corsHeaders?.lines
  writeProblem(connection, error, { requestId, access, carriers, isRegistry, sentStatus, extraLines })
}

/** A response without a body, whose head is its trailers too (Trailers-Only of gRPC over HTTP/2). */
function answerGrpc({ connection, requestId, outcome }: Arrival, error: GatehouseError): void {
  const lines = `content-type: application/grpc\r\n${grpcStatusLines(error)}X-Request-Id: ${requestId}\r\n`
  connection.respond(200, 'OK', `${lines}${outcome.corsHeaders?.lines ?? ''}${dateLine()}`, 'none')
  connection.end()
}

/** No request, and so no route: nothing is challenged. */
const beforeArrival = { access: undefined, carriers: createCarriers([]), isRegistry: false }

/** Answers a request that could not be parsed. */
export function answerUnreadable(connection: ClientExchange, error: GatehouseError, requestId: string): void {
  writeProblem(connection, error, { requestId, ...beforeArrival })
}

/** The whole response, for a socket without an HTTP connection; the socket is closed after it. */
export function formatRawProblem(error: GatehouseError, requestId: string): string {
  const { lines, body } = serializeProblem(describeProblem(error, { requestId, ...beforeArrival }))
  const { status } = error
  const ending = `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}${dateLine()}${ending}${body}`
}

/**
 * The same as a page, for a person in a browser.
 * @param portalPath undefined = the portal is disabled
 * @param extraLines more field lines, each ended by CR LF
 */
export function answerErrorPage(
  arrival: Arrival,
  error: GatehouseError,
  portalPath: string | undefined,
  extraLines = '',
): void {
  const { connection, outcome, requestId, carriers } = arrival
  recordFailure(arrival.outcome, error)
  recordStatus(outcome, error.status)
  writeAnswer(connection, error.status, {
    ...renderErrorPage(error, { requestId, portalPath }),
    extraLines: `${extraLines}${challengeLines(error, { access: outcome.access, carriers, isRegistry: false })}${outcome.corsHeaders?.lines ?? ''}`,
  })
}

/** A page has them too (RFC 9110 15.5.2), but for Basic: browsers would ask for a password in a window of theirs. */
function challengeLines(error: GatehouseError, context: ChallengeContext): string {
  if (error.status !== 401 && !challengedCodes.has(error.code)) return ''
  return challenges(error.code, context)
    .filter((challenge) => !challenge.startsWith('Basic'))
    .map((challenge) => `WWW-Authenticate: ${challenge}\r\n`)
    .join('')
}

function writeProblem(connection: ClientExchange, error: GatehouseError, about: ProblemContext): void {
  const { sentStatus = error.status, extraLines, isRegistry } = about
  const key = sentStatus === error.status && !isRegistry ? cacheKey(error) : undefined
  const text =
    key === undefined ? serializeProblem(describeProblem(error, about)) : cachedText(key, error, about)
  writeAnswer(connection, sentStatus, { ...text, extraLines })
}

function writeAnswer(
  connection: ClientExchange,
  status: number,
  { lines, body, extraLines = '' }: ProblemText & Pick<ProblemContext, 'extraLines'>,
): void {
  const isHead = connection.head?.method === 'HEAD'
  connection.respond(
    status,
    STATUS_CODES[status] ?? '',
    `${lines}${extraLines}${dateLine()}Content-Length: ${body.length}\r\n`,
    isHead ? 'none' : 'counted',
  )
  connection.end(body)
}

interface ProblemText {
  /** Field lines, each ended by CR LF. */
  readonly lines: string
  /** ASCII, so that one character is one byte. */
  readonly body: string
}

function serializeProblem({ headers, body }: Problem): ProblemText {
  let lines = ''
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (typeof value === 'string') lines += `${name}: ${value}\r\n`
    else for (const each of value) lines += `${name}: ${each}\r\n`
  }
  return { lines, body: notAscii.test(body) ? body.replaceAll(/[^ -~]/g, escapeCharacter) : body }
}

/** What names the responses that differ only in the ID, for one route; undefined = there are none. */
function cacheKey(error: GatehouseError): ErrorCode | GatehouseError | undefined {
  const { code, detail, errors, allow, rate, isShared } = error
  // One object for each code and detail.
  if (isShared) return error
  if (errors || allow || rate) return undefined
  const defaults: { readonly title: string; readonly detail?: string } = errorDefinitions[code]
  return detail === defaults.detail ? code : undefined
}

const noAccess = {}
/** Cached responses without the ID, which comes last in lines and body: refusing must cost less than forwarding. */
const textCache = new WeakMap<object, CachedTexts>()

/** The responses about one route; a reload may change the carriers. */
interface CachedTexts {
  readonly carriers: Carriers
  readonly byKey: Map<ErrorCode | GatehouseError, ProblemText>
}

function cachedText(
  key: ErrorCode | GatehouseError,
  error: GatehouseError,
  context: ProblemContext,
): ProblemText {
  const { requestId, access, carriers } = context
  const known = textCache.get(access ?? noAccess)
  const isCurrent = known !== undefined && (access === undefined || known.carriers === carriers)
  const { byKey } = isCurrent ? known : startTexts(access ?? noAccess, carriers)
  const cached = byKey.get(key)
  if (cached) {
    return { lines: `${cached.lines}${requestId}\r\n`, body: `${cached.body}${JSON.stringify(requestId)}}` }
  }
  const { lines, body } = serializeProblem(describeProblem(error, { ...context, requestId: '' }))
  const withoutId = { lines: lines.slice(0, -'\r\n'.length), body: body.slice(0, -'""}'.length) }
  byKey.set(key, withoutId)
  return serializeProblem(describeProblem(error, context))
}

function startTexts(access: object, carriers: Carriers): CachedTexts {
  const texts: CachedTexts = { carriers, byKey: new Map() }
  textCache.set(access, texts)
  return texts
}

const notAscii = /[^ -~]/

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Turns any error into one that clients may see: an unknown error becomes `internal`, without its message. */
export function toGatehouseError(error: unknown): GatehouseError {
  return error instanceof GatehouseError ? error : new GatehouseError('internal', { cause: error })
}
