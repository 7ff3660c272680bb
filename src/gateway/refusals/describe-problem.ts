import { dateLine } from '#http/h1/response-writer.ts'
import type { ExceededRate, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { type ChallengeContext, challenges } from './challenges.ts'

/** When to try again after a 503, in seconds: the outages behind it are short. */
const retryAfterS = 1

/** Codes that have a challenge, besides every 401 (RFC 6750 3). */
export const challengedCodes = new Set(['credentials-ambiguous', 'role-forbidden', 'scope-forbidden'])

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
  /** Field lines that do not depend on the failure, each ended by CR LF. */
  readonly extraLines?: string | undefined
}

export function describeProblem(error: GatehouseError, context: ProblemContext): Problem {
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
    body: `${JSON.stringify({ type: `urn:gatehouse:${code}`, title, status, code, detail, requestId, errors })}\n`,
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

export interface ProblemText {
  /** Field lines, each ended by CR LF. */
  readonly lines: string
  /** ASCII, so that one character is one byte. */
  readonly body: string
}

export function serializeProblem({ headers, body }: Problem): ProblemText {
  let lines = ''
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (typeof value === 'string') lines += `${name}: ${value}\r\n`
    else for (const each of value) lines += `${name}: ${each}\r\n`
  }
  return { lines, body: notAscii.test(body) ? body.replaceAll(/[^\n -~]/g, escapeCharacter) : body }
}

/** Adds the lines that depend on the time and the body. @param extraLines more field lines, each ended by CR LF */
export function completeText({ lines, body }: ProblemText, extraLines = ''): ProblemText {
  return { lines: `${extraLines}${lines}${dateLine()}Content-Length: ${body.length}\r\n`, body }
}

/** The newline at the end stays: JSON has no other. */
const notAscii = /[^\n -~]/

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
