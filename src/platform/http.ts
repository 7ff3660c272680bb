import type * as http from 'node:http'
import type { Allowance } from './errors/gatehouse-error.ts'

/**
 * What the gateway uses of node:http. An import of it would read every export, including WebSocket, whose getter loads
 * all of Undici: 2 MB, and a twentieth of the startup time.
 */
export const {
  Agent,
  createServer,
  IncomingMessage,
  METHODS,
  request,
  ServerResponse,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} = process.getBuiltinModule('node:http')

/** The methods that may become a label of a metric: none that a client has invented. */
export const registeredMethods: ReadonlySet<string> = new Set(METHODS)

export type IncomingMessage = http.IncomingMessage
export type ServerResponse = http.ServerResponse

/** Statuses without a body, whatever the fields of the response say (RFC 9110 6.4.1), in addition to 1xx. */
export const bodilessStatuses: ReadonlySet<number> = new Set([204, 304])

/** The last Date line, and the second that it names, in milliseconds. */
let lastDateLine = ''
let lastDateAt = 0

/** The Date line of the gateway's own responses (RFC 9110 6.6.1), created once a second. */
export function dateLine(): string {
  const now = Date.now()
  if (now >= lastDateAt + 1_000 || now < lastDateAt) {
    lastDateAt = now - (now % 1_000)
    lastDateLine = `Date: ${new Date(lastDateAt).toUTCString()}\r\n`
  }
  return lastDateLine
}

/** Matches the beginning of credentials of a scheme: one that goes on is another scheme (RFC 9110 5.6.2). */
export function schemePrefix(scheme: string): RegExp {
  return new RegExp(`^${scheme}(?![!#$%&'*+.^_\`|~0-9A-Za-z-])`, 'i')
}

/**
 * Tells a client what is left, in header fields: those of draft-ietf-httpapi-ratelimit-headers (11), for each limit,
 * and the three of its early versions, which many clients know, for the one of which least is left.
 */
export function allowanceFields(allowances: readonly Allowance[]): Readonly<Record<string, string>> {
  const [first, ...others] = allowances
  if (first === undefined) return {}
  const tightest = others.reduce((least, each) => (each.remaining < least.remaining ? each : least), first)
  return {
    'RateLimit-Policy': allowances.map(policyItem).join(', '),
    RateLimit: allowances.map(remainingItem).join(', '),
    'RateLimit-Limit': String(tightest.limit),
    'RateLimit-Remaining': String(tightest.remaining),
    'RateLimit-Reset': String(wholeSeconds(tightest.resetMs)),
  }
}

/** The same as field lines. @param allowances undefined = no limit applies */
export function allowanceLines(allowances: readonly Allowance[] | undefined): string {
  return allowances === undefined ? '' : linesOf(allowanceFields(allowances))
}

/** Field lines, one for each value. */
export function linesOf(fields: Readonly<Record<string, string | readonly string[]>>): string {
  let lines = ''
  for (const name in fields) {
    const value = fields[name] ?? ''
    if (typeof value === 'string') lines += `${name}: ${value}\r\n`
    else for (const each of value) lines += `${name}: ${each}\r\n`
  }
  return lines
}

function policyItem({ policy, limit, windowMs }: Allowance): string {
  return `"${policy}";q=${limit};w=${wholeSeconds(windowMs)}`
}

function remainingItem({ policy, remaining, resetMs }: Allowance): string {
  return `"${policy}";r=${remaining};t=${wholeSeconds(resetMs)}`
}

/** Whole seconds, rounded up: a client that waits that long is never too early. */
export function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000))
}

export interface CookieAttributes {
  readonly path: string
  readonly sameSite: 'Strict' | 'Lax' | 'None'
  readonly isSecure: boolean
}

/** A cookie that carries a token. */
export interface TokenCookie extends CookieAttributes {
  readonly name: string
}

/** The attributes of a cookie that no script reads, to be put after its value: `; Path=/; HttpOnly; SameSite=Lax`. */
export function cookieAttributes({ path, sameSite, isSecure }: CookieAttributes): string {
  return `; Path=${path}; HttpOnly${isSecure ? '; Secure' : ''}; SameSite=${sameSite}`
}
