import { createSecureContext } from 'node:tls'
import { Call, type CallEvents, type UpstreamRequest } from './call.ts'
import { Pool } from './pool.ts'
import { createRoundRobin } from './round-robin.ts'
import type { Target } from './target.ts'

export interface UpstreamOptions {
  readonly name: string
  readonly targets: readonly { readonly url: URL; readonly weight: number }[]
  readonly connectTimeoutMs: number
  readonly responseTimeoutMs: number
  readonly idleTimeoutMs: number
  /** Other targets tried after a failure. */
  readonly retryAttempts: number
  readonly connectionsMax: number
  readonly host: 'client' | 'target'
  readonly tls: { readonly verify: boolean; readonly ca: string | undefined }
}

/** A named backend: it sends requests to its targets in turn. */
export interface Upstream {
  readonly name: string
  readonly responseTimeoutMs: number
  /** Which Host the backend sees. */
  readonly host: 'client' | 'target'
  /** A request to be started; `events` may be told of it from then on. */
  createCall(request: UpstreamRequest, events: CallEvents): Call
  close(): void
}

export function openUpstream(options: UpstreamOptions): Upstream {
  const { name, responseTimeoutMs, host, connectTimeoutMs, connectionsMax, idleTimeoutMs, retryAttempts } =
    options
  const usesTls = options.targets.some(({ url }) => url.protocol === 'https:')
  const { ca, verify } = options.tls
  // Made once: loading certificates for every connection would cost more than the handshake.
  const context = usesTls ? createSecureContext(ca === undefined ? {} : { ca }) : undefined
  const targets = options.targets.map(({ url, weight }): Target => {
    const pool = new Pool({
      url,
      connectTimeoutMs,
      connectionsMax,
      tls: { verify, context, session: undefined },
    })
    return { authority: url.host, origin: url.origin, weight, pool }
  })
  const [first, ...others] = targets
  if (!first) throw new Error(`the upstream ${name} has no target`)
  const nextTarget = createRoundRobin([first, ...others])

  return {
    name,
    responseTimeoutMs,
    host,
    createCall: (request, events) =>
      new Call({ request, events, targets, first: nextTarget(), retryAttempts, idleTimeoutMs }),
    close: () => {
      for (const { pool } of targets) pool.close()
    },
  }
}
