import type * as http from 'node:http'

/**
 * What the gateway uses of node:http. An import of it reads every export, also WebSocket, whose getter loads all of
 * Undici: 2 MB, and one twentieth of the time that a start takes.
 */
export const {
  createServer,
  IncomingMessage,
  METHODS,
  request,
  ServerResponse,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} = process.getBuiltinModule('node:http')

export type IncomingMessage = http.IncomingMessage
export type ServerResponse = http.ServerResponse
