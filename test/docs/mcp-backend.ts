import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ReceivedRequest } from '../setup/backend.ts'

/** A server of the Model Context Protocol with one tool, over streamable HTTP without sessions. */
export function answerAsMcpServer(
  request: IncomingMessage,
  response: ServerResponse,
  { body }: ReceivedRequest,
): void {
  if (request.method !== 'POST') return void response.writeHead(405).end()
  // The cast is sound: the client speaks JSON-RPC.
  const { id, method, params } = JSON.parse(body) as {
    readonly id?: number
    readonly method: string
    readonly params?: { readonly protocolVersion?: string }
  }
  if (id === undefined) return void response.writeHead(202).end()
  const result =
    method === 'initialize'
      ? {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'sums', version: '1.0.0' },
        }
      : { tools: [{ name: 'add', inputSchema: { type: 'object' } }] }
  response.writeHead(200, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
}
