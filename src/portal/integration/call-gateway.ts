import { request as requestHttps } from 'node:https'
import { withoutBrackets } from '#platform/addresses.ts'
import { signalAtDeadline } from '#platform/deadline.ts'
import { request as requestHttp } from '#platform/http.ts'

export interface GatewayRequest {
  readonly method: string
  readonly path: string
  /** The Host header; default: the host of the gateway's URL. */
  readonly host?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface GatewayResponse {
  readonly status: number
  readonly contentType: string
  readonly body: string
  /** Whether the body was longer. */
  readonly isTruncated: boolean
  /** From sending the request to the last byte read. */
  readonly durationMs: number
}

/** How long a call may take, up to the end of its response. */
export const callTimeoutMs = 10_000

/**
 * Sends one request to this gateway, and reads the beginning of its response.
 * @param bodyBytesMax how much of its body is read; default: 64 KiB
 * @throws DOMException `TimeoutError` if it takes too long, Error if the gateway cannot be reached
 */
export function callGateway(
  gatewayUrl: string,
  { method, path, host, headers, body }: GatewayRequest,
  bodyBytesMax = 65_536,
): Promise<GatewayResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<GatewayResponse>()
  const startedAt = performance.now()
  const url = new URL(gatewayUrl)
  const { signal, clear } = signalAtDeadline(callTimeoutMs)
  // After an abort the reason is in the signal, not in the error.
  const fail = (error: Error) => reject(signal.aborted ? signal.reason : error)
  const options = {
    method,
    path,
    hostname: withoutBrackets(url.hostname),
    port: url.port,
    headers: { ...headers, ...(host !== undefined && { Host: host }), Connection: 'close' },
    signal,
    agent: false,
    // The certificate is for the public name, but this connects to the gateway's own listener on this machine.
    rejectUnauthorized: false,
  }
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const clientRequest = send(options, (response) => {
    const chunks: Buffer[] = []
    let length = 0
    const finish = (isTruncated: boolean) => {
      const text = Buffer.concat(chunks).toString('utf8')
      const { statusCode = 0, headers: responseHeaders } = response
      resolve({
        status: statusCode,
        contentType: responseHeaders['content-type'] ?? '',
        body: text,
        isTruncated,
        durationMs: performance.now() - startedAt,
      })
    }
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      if (length < bodyBytesMax) return
      finish(true)
      response.destroy()
    })
    response.on('end', () => finish(false))
    response.on('error', fail)
  })
  clientRequest.on('error', fail)
  clientRequest.end(body)
  return promise.finally(clear)
}
