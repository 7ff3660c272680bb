import { createHash, randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { ReceivedRequest } from './backend.ts'

/** One request of the soak. */
export interface Call {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer | undefined
  /** Aborts the connection after this time; undefined = never. */
  readonly cutAfterMs?: number | undefined
}

/** Its result. */
export interface Outcome {
  readonly sentAt: number
  readonly endedAt: number
  /** 0 = no complete response was received. */
  readonly status: number
  readonly text: string
  readonly nonce: string
  readonly sha256: string
}

/** Longer than any fault lasts. */
const timeoutMs = 20_000

/** Sends requests over keep-alive connections. */
export function createSender() {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })

  function send({ url, method, headers, body, cutAfterMs }: Call): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const sentAt = performance.now()
    const nonce = randomBytes(8).toString('hex')
    const sha256 = createHash('sha256')
      .update(body ?? '')
      .digest('hex')
    const finish = (status: number, text = '') =>
      resolve({ sentAt, endedAt: performance.now(), status, text, nonce, sha256 })
    const call = request(url, { method, agent, headers: { ...headers, 'X-Nonce': nonce } }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => finish(response.complete ? (response.statusCode ?? 0) : 0, text))
      response.on('error', () => finish(0))
    })
    call.setTimeout(timeoutMs, () => call.destroy())
    call.on('error', () => finish(0))
    if (cutAfterMs !== undefined) setTimeout(() => call.destroy(), cutAfterMs)
    call.end(body)
    return promise
  }

  return { send, close: () => agent.destroy() }
}

export type Send = ReturnType<typeof createSender>['send']

/** What the backend received of a request with status 200; undefined = the response is not the backend's. */
export function parseReceived({ text }: Outcome): ReceivedRequest | undefined {
  try {
    // The cast is sound: only targets of the soak respond 200 to its requests, and a wrong response fails the comparison.
    return JSON.parse(text) as ReceivedRequest
  } catch {
    return undefined
  }
}
