import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import {
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2'
import { reportUrl } from '../report-url.ts'

/** A request as the backend received it: the soak compares it with what was sent. */
export interface ReceivedRequest {
  /** The number that the client gave the request; undefined = it had none. */
  readonly nonce: string | undefined
  readonly id: string | undefined
  readonly role: string | undefined
  readonly bytes: number
  readonly sha256: string
}

/** How long a response to `slow` takes. */
const slowMs = 300

function answerWithReceived(
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
): void {
  const hash = createHash('sha256')
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    hash.update(chunk)
  })
  request.on('error', () => {})
  request.on('end', () => {
    const text = (name: string) => request.headers[name]?.toString()
    const seen: ReceivedRequest = {
      nonce: text('x-nonce'),
      id: text('x-user-id'),
      role: text('x-user-role'),
      bytes,
      sha256: hash.digest('hex'),
    }
    const answer = () => {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(seen))
    }
    if (request.url?.endsWith('/slow')) setTimeout(answer, slowMs)
    else answer()
  })
}

/** A target of the soak, in a separate process: it responds with what it received. */
const [protocol, port = '0'] = process.argv.slice(2)
const server = protocol === 'http2' ? createHttp2Server(answerWithReceived) : createServer(answerWithReceived)
// The port of the target that it stands in for, if there was one.
await reportUrl(server, Number(port))
