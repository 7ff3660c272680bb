import { createHash, randomBytes, randomInt } from 'node:crypto'
import type { ReceivedRequest } from './backend.ts'
import { createHttp1Sender } from './send-http1.ts'
import { createHttp2Sender } from './send-http2.ts'

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

/** What came of a call, whatever the version of HTTP. */
export interface Response {
  /** 0 = no complete response was received. */
  readonly status: number
  readonly text: string
}

/** Longer than any fault lasts. */
export const timeoutMs = 20_000

/** Sends each request over HTTP/1.1 or HTTP/2, by chance, on connections that are kept. */
export function createSender() {
  const senders = [createHttp1Sender(), createHttp2Sender()] as const

  async function send(call: Call): Promise<Outcome> {
    const sentAt = performance.now()
    const nonce = randomBytes(8).toString('hex')
    const sha256 = createHash('sha256')
      .update(call.body ?? '')
      .digest('hex')
    const sender = senders[randomInt(senders.length)] ?? senders[0]
    const response = await sender.send({ ...call, headers: { ...call.headers, 'X-Nonce': nonce } })
    return { sentAt, endedAt: performance.now(), nonce, sha256, ...response }
  }

  return {
    send,
    close: () => {
      for (const sender of senders) sender.close()
    },
  }
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
