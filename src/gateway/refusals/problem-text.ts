import { hash } from 'node:crypto'
import { type RequestHead, valuesOf } from '#http/request-head.ts'
import type { Carriers } from '#identity/carriers.ts'
import { type ErrorCode, errorDefinitions } from '#platform/errors/codes.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { allowanceFields, dateLine, linesOf, wholeSeconds } from '#platform/http.ts'
import { errorDocument, errorPageStyle } from '#platform/pages/html.ts'
import { copyString, unicodeEscape } from '#platform/text.ts'
import { type ChallengeContext, challenges } from './challenges.ts'

/** The response to a failed request. Responses that differ only in the request ID are built once. */
export function problemText(error: GatehouseError, context: ProblemContext): ProblemText {
  const { requestId, sentStatus = error.status, extraLines, isRegistry, isProof } = context
  const isUsual = sentStatus === error.status && !isRegistry && !isProof && isPlainInJson(requestId)
  const key = isUsual ? repeatedKey(error) : undefined
  return key === undefined
    ? completeText(serializeProblem(describeProblem(error, context)), extraLines)
    : repeatedProblem(key, error, context).withId(requestId, extraLines)
}

/** Whether JSON and a field line can hold it unescaped. */
function isPlainInJson(requestId: string): boolean {
  return !requestId.includes('"') && !requestId.includes('\\')
}

/** The key of responses of one route that differ only in the request ID; undefined = the response is unique. */
function repeatedKey(error: GatehouseError): ErrorCode | GatehouseError | undefined {
  const { code, detail, errors, allow, rate, nonce, isShared } = error
  // There is one shared error for each code and detail.
  if (isShared) return error
  if (errors || allow || rate || nonce !== undefined) return undefined
  const defaults: { readonly title: string; readonly detail?: string } = errorDefinitions[code]
  return detail === defaults.detail ? code : undefined
}

/** A response without its request ID, which comes last in lines and body. Refusing must cost less than forwarding. */
class RepeatedProblem {
  readonly #lines: string
  readonly #body: string
  #date = ''
  #idLength = -1
  #linesAfterId = ''

  constructor({ lines, body }: ProblemText) {
    this.#lines = copyString(lines.slice(0, -'\r\n'.length))
    this.#body = copyString(body.slice(0, -bodyAfterId.length))
  }

  withId(requestId: string, extraLines = ''): ProblemText {
    const date = dateLine()
    if (date !== this.#date || requestId.length !== this.#idLength) this.#prepare(date, requestId.length)
    return {
      lines: extraLines + this.#lines + requestId + this.#linesAfterId,
      body: this.#body + requestId + bodyAfterId,
    }
  }

  #prepare(date: string, idLength: number): void {
    const length = this.#body.length + idLength + bodyAfterId.length
    this.#date = date
    this.#idLength = idLength
    this.#linesAfterId = copyString(`\r\n${date}Content-Length: ${length}\r\n`)
  }
}

const bodyAfterId = '"}\n'

/** The repeated responses of one route; a reload may change the carriers. */
interface RepeatedProblems {
  readonly carriers: Carriers
  readonly byKey: Map<ErrorCode | GatehouseError, RepeatedProblem>
}

const noAccess = {}
const problemsOf = new WeakMap<object, RepeatedProblems>()

function repeatedProblem(
  key: ErrorCode | GatehouseError,
  error: GatehouseError,
  context: ProblemContext,
): RepeatedProblem {
  const { access = noAccess, carriers } = context
  let problems = problemsOf.get(access)
  if (problems === undefined || (access !== noAccess && problems.carriers !== carriers)) {
    problems = { carriers, byKey: new Map() }
    problemsOf.set(access, problems)
  }
  const repeated = problems.byKey.get(key)
  if (repeated !== undefined) return repeated
  const added = new RepeatedProblem(serializeProblem(describeProblem(error, { ...context, requestId: '' })))
  problems.byKey.set(key, added)
  return added
}

/** Retry-After of a 503, in seconds: the outages behind it are short. */
const retryAfterS = 1

/** Codes that get a challenge although their status is not 401 (RFC 6750 3). */
const challengedCodes = new Set(['credentials-ambiguous', 'role-forbidden', 'scope-forbidden'])

export function hasChallenge({ status, code }: GatehouseError): boolean {
  return status === 401 || challengedCodes.has(code)
}

/** An error response in problem+json (RFC 9457). */
export interface Problem {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: string
}

export interface ProblemContext extends ChallengeContext {
  readonly requestId: string
  /** undefined = the status of the error. */
  readonly sentStatus?: number | undefined
  /** Field lines that do not depend on the failure. */
  readonly extraLines?: string | undefined
}

export function describeProblem(error: GatehouseError, context: ProblemContext): Problem {
  const { requestId, sentStatus: status = error.status } = context
  const { code, title, detail, errors, allow, nonce } = error
  return {
    status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...(hasChallenge(error) && { 'WWW-Authenticate': challenges(code, context) }),
      ...(allow && { Allow: allow.join(', ') }),
      ...(nonce !== undefined && { 'DPoP-Nonce': nonce }),
      ...waitHeaders(error),
      'X-Request-Id': requestId,
    },
    body: `${JSON.stringify({ type: `urn:gatehouse:${code}`, title, status, code, detail, requestId, errors })}\n`,
  }
}

/** When the request may be sent again, and the limit that it has exceeded. */
function waitHeaders({ rate, status }: GatehouseError): Readonly<Record<string, string>> {
  if (rate) return { 'Retry-After': String(wholeSeconds(rate.retryMs)), ...allowanceFields([rate]) }
  return status === 503 ? { 'Retry-After': String(retryAfterS) } : {}
}

export interface ProblemText {
  /** Field lines. */
  readonly lines: string
  /** ASCII, so that one character is one byte. */
  readonly body: string
}

function serializeProblem({ headers, body }: Problem): ProblemText {
  const isAscii = !notAscii.test(body)
  return { lines: linesOf(headers), body: isAscii ? body : body.replaceAll(/[^\n -~]/g, unicodeEscape) }
}

/** Adds the lines that depend on the time and the body. @param extraLines more field lines */
export function completeText({ lines, body }: ProblemText, extraLines = ''): ProblemText {
  return { lines: `${extraLines}${lines}${dateLine()}Content-Length: ${body.length}\r\n`, body }
}

/** The newline at the end stays: JSON has no other. */
const notAscii = /[^\n -~]/

/**
 * Whether the client is a person in a browser: a GET whose Accept names HTML, as sent for address bars and links.
 * Programs get problem+json, even if they accept anything.
 */
export function prefersHtml({ method, rawHeaders }: RequestHead): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  return valuesOf(rawHeaders, 'accept').some(namesHtml)
}

/** Whether an Accept names HTML, with a weight above 0 (RFC 9110 12.5.1). */
export function namesHtml(accept: string): boolean {
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === 'text/html' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', errorPageStyle, 'base64')}'`,
  'img-src data:',
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const fixedLines = linesOf({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': policy,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
})

/**
 * Renders an error as a page, with the fields that it needs.
 * @param portalLink a path, or a URL if the portal has a host of its own; undefined = there is no portal
 */
export function renderErrorPage(
  error: GatehouseError,
  requestId: string,
  portalLink: string | undefined,
): ProblemText {
  const { status, title, detail, code } = error
  const link = portalLink === undefined ? undefined : { href: portalLink, text: 'Go to the portal' }
  const page = errorDocument({ status, title, detail, code, requestId, link }).text
  return {
    lines: fixedLines + linesOf({ ...waitHeaders(error), 'X-Request-Id': requestId }),
    body: page.replaceAll(/[^\n -~]/gu, (character) => `&#${character.codePointAt(0)};`),
  }
}
