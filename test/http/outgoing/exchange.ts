import type { Socket } from 'node:net'
import type { Test } from 'tap'
import type { BodyProgress } from '#http/client-exchange.ts'
import type { UpstreamFailure } from '#http/outgoing/failure.ts'
import type { ResponseHead } from '#http/outgoing/response-head.ts'
import type { Call } from '#http/upstream/call.ts'
import type { Target } from '#http/upstream/target.ts'
import { openUpstream, type Upstream, type UpstreamOptions } from '#http/upstream/upstream.ts'
import type { UpstreamConfig } from '#http/upstream/upstream-config.ts'

/** An upstream of these targets, closed with the test; its timeouts are long unless they are what is tested. */
export function openTestUpstream(
  t: Test,
  urls: string | readonly string[],
  terms: Partial<UpstreamConfig> = {},
  options: Partial<UpstreamOptions> = {},
): Upstream {
  const targets = [urls].flat().map((url) => ({ url: new URL(url), weight: 1 }))
  const whole: UpstreamConfig = {
    name: 'backend',
    targets,
    balancing: 'roundRobin',
    health: { active: undefined, passive: undefined },
    connectTimeoutMs: 5_000,
    responseTimeoutMs: 5_000,
    idleTimeoutMs: 5_000,
    retryAttempts: 0,
    connectionsMax: 128,
    protocol: 'http1',
    host: 'target',
    headers: undefined,
    tls: { verify: true, ca: undefined },
    ...terms,
  }
  const upstream = openUpstream(whole, { onHealthChange: () => {}, ...options })
  t.teardown(() => upstream.close())
  return upstream
}

export interface Asked {
  readonly method?: string
  readonly path?: string
  /** Header lines, each ended by CR LF. */
  readonly lines?: string
  readonly body?: 'none' | 'counted' | 'chunked'
  readonly isUpgrade?: boolean
  readonly isLast?: boolean
  readonly bindsConnection?: boolean
  readonly clientSocket?: Socket
  readonly expectsContinue?: boolean
  readonly responseTimeoutMs?: number
  readonly idleTimeoutMs?: number
  /** Default: of each request another. */
  readonly clientAddress?: string
  readonly targetIds?: readonly string[]
  readonly accountId?: string
  readonly clientSession?: object
  bodyProgress?(): BodyProgress
}

export interface Answer {
  readonly head: ResponseHead
  readonly body: string
  readonly trailers: readonly string[]
  readonly information: readonly ResponseHead[]
}

/** One request and all that comes of it. */
export interface Exchange {
  readonly call: Call
  /** Resolves with the whole answer, rejects with an UpstreamFailure. */
  readonly answer: Promise<Answer>
  /** Resolves once the head is on its way. */
  readonly sent: Promise<Target>
  /** Why it failed; rejects where it did not. */
  readonly failure: Promise<UpstreamFailure>
  readonly upgrade: Promise<{ readonly socket: Socket; readonly rest: string }>
  /** Every event so far, in order. */
  readonly events: readonly string[]
  /** Called when there is room for more of the body. */
  onDrain: () => void
  onInformation: () => void
  onData: (chunk: Buffer) => void
  /** Called first in the handler of each event of the response: what it throws is thrown by the handler. */
  onEvent: (name: 'onHead' | 'onData' | 'onRead' | 'onEnd') => void
}

let clients = 0

/** Sends a request to an upstream: the caller writes a body, if any, once the head is sent. */
export function exchange(upstream: Upstream, asked: Asked = {}): Exchange {
  const { method = 'GET', path = '/', lines = '', body = 'none', isUpgrade = false } = asked
  const answer = Promise.withResolvers<Answer>()
  const sent = Promise.withResolvers<Target>()
  const upgrade = Promise.withResolvers<{ socket: Socket; rest: string }>()
  const information: ResponseHead[] = []
  const data: Buffer[] = []
  const events: string[] = []
  let head: ResponseHead | undefined
  function onData(chunk: Buffer): void {
    if (events.at(-1) !== 'data') events.push('data')
    data.push(Buffer.from(chunk))
    made.onData(chunk)
  }
  const call = upstream.createCall(
    {
      method,
      body,
      isUpgrade,
      isLast: asked.isLast ?? false,
      bindsConnection: asked.bindsConnection ?? false,
      clientSocket: asked.clientSocket,
      expectsContinue: asked.expectsContinue ?? false,
      responseTimeoutMs: asked.responseTimeoutMs ?? upstream.responseTimeoutMs,
      idleTimeoutMs: asked.idleTimeoutMs ?? upstream.idleTimeoutMs,
      clientAddress: asked.clientAddress ?? '127.0.0.1',
      targetIds: asked.targetIds ?? [],
      clientNetwork: asked.clientAddress ?? `client ${clients++}`,
      accountId: asked.accountId,
      clientSession: asked.clientSession,
      get bodyProgress() {
        return asked.bodyProgress?.() ?? 'whole'
      },
      headFor: ({ authority }) => `${method} ${path} HTTP/1.1\r\nHost: ${authority}\r\n${lines}\r\n`,
    },
    {
      onSent: (target) => {
        events.push('sent')
        sent.resolve(target)
      },
      onInformation: (received) => {
        events.push(String(received.status))
        information.push(received)
        made.onInformation()
      },
      onHead: (received) => {
        made.onEvent('onHead')
        events.push('head')
        head = received
      },
      onData: (chunk) => {
        made.onEvent('onData')
        onData(chunk)
      },
      onEnd: (trailers, last = '') => {
        made.onEvent('onEnd')
        if (last !== '') onData(Buffer.from(last, 'latin1'))
        events.push('end')
        if (!head) throw new Error('an end without a head')
        answer.resolve({ head, body: Buffer.concat(data).toString('latin1'), trailers, information })
      },
      onUpgrade: (_head, socket, rest) => {
        events.push('upgrade')
        upgrade.resolve({ socket, rest: rest.toString('latin1') })
      },
      onFailure: (failure) => {
        events.push(failure.reason)
        answer.reject(failure)
      },
      onRead: () => {
        made.onEvent('onRead')
        return false
      },
      onDrain: () => made.onDrain(),
    },
  )
  const failure = answer.promise.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: UpstreamFailure) => error,
  )
  // Who waits for one of them need not wait for the others.
  for (const promise of [answer.promise, failure]) promise.catch(() => {})
  const made: Exchange = {
    call,
    answer: answer.promise,
    sent: sent.promise,
    failure,
    upgrade: upgrade.promise,
    events,
    onDrain: () => {},
    onInformation: () => {},
    onData: () => {},
    onEvent: () => {},
  }
  call.start()
  return made
}

/** A whole exchange without a body. @throws UpstreamFailure */
export function request(upstream: Upstream, asked: Asked = {}): Promise<Answer> {
  return exchange(upstream, asked).answer
}
