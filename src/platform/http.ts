import type * as http from 'node:http'

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

/** Methods that anybody invents are not among them, and must not become a label. */
export const registeredMethods: ReadonlySet<string> = new Set(METHODS)

export type IncomingMessage = http.IncomingMessage
export type ServerResponse = http.ServerResponse

/** Statuses without a body, whatever the fields of the response say (RFC 9110 6.4.1); those of 1xx besides. */
export const bodilessStatuses: ReadonlySet<number> = new Set([204, 304])

/** Matches the beginning of credentials of a scheme: before a token character it would be another (RFC 9110 5.6.2). */
export function schemePrefix(scheme: string): RegExp {
  return new RegExp(`^${scheme}(?![!#$%&'*+.^_\`|~0-9A-Za-z-])`, 'i')
}
