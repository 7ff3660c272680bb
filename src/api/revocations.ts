import { Readable } from 'node:stream'
import { arrivalOf } from '#gateway/arrival/endpoint-arrival.ts'
import { type PerOperation, type RevocationsPath, revocationsPath } from '#gateway/routes/own-operations.ts'
import type { OpenCallers } from '#gateway/server/open-callers.ts'
import type { RevocationFeed } from '#identity/tokens/revocation-feed.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { objectSchema } from '#platform/json-schema.ts'
import { type Operation, operation } from './operation.ts'

export interface RevocationsOptions {
  /** undefined = it is not enabled. */
  readonly revocationFeed: RevocationFeed | undefined
  /** Ends a stream when the credential of its reader ends. */
  readonly followStream: OpenCallers['followStream']
}

/** How much a slow reader may leave unread, beyond the snapshot: some thousand revocations. */
const unreadBytesMax = 1_048_576

const query = objectSchema({
  nonce: {
    type: 'string',
    pattern: '^[A-Za-z0-9_-]{1,128}$',
    description: 'Any text that was not used before; the snapshot repeats it.',
  },
})

/** The stream of revocations, for backends that verify by themselves. */
export function revocationsOperations({
  revocationFeed: feed,
  followStream,
}: RevocationsOptions): PerOperation<Operation, RevocationsPath> {
  return {
    [revocationsPath]: {
      GET: operation({
        id: 'followRevocations',
        summary: 'Streams what has been revoked, as signed events.',
        description:
          'Server-sent events, each a JWT of type `gatehouse-revocations+jwt`: a snapshot, then each revocation, and several times a second the time up to which they are complete. Only with `tokens.revocationFeed`.',
        query,
        responses: {
          200: { description: 'The stream; it does not end.', alternatives: ['text/event-stream'] },
        },
        problems: ['request-invalid', 'route-not-found', 'rate-limited'],
        handler: async (request, reply) => {
          if (!feed) throw noFeedError()
          reply.headers({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' })
          if (request.method === 'HEAD') return reply.send('')
          const { stream, close } = openRevocationStream(feed, request.query.nonce)
          stream.once('close', followStream(arrivalOf(request.raw), close))
          return reply.send(stream)
        },
      }),
    },
  }
}

export function noFeedError(): GatehouseError {
  return new GatehouseError('route-not-found', {
    detail: 'The gateway has no stream of revocations: tokens.revocationFeed is not enabled.',
  })
}

/** The stream of one reader. One who leaves too much unread is disconnected, and has to begin again with a snapshot. */
export function openRevocationStream(
  feed: RevocationFeed,
  nonce: string,
): { readonly stream: Readable; close(): void } {
  const unread: string[] = []
  let unreadBytes = 0
  let isWanted = false

  function onEvent(event: string): void {
    unread.push(event)
    unreadBytes += event.length
    if (unreadBytes > unreadBytesMax) stream.destroy()
    else if (isWanted) sendMore()
  }

  function nextEvent(): string | undefined {
    const ofSnapshot = snapshot.next()
    if (!ofSnapshot.done) return ofSnapshot.value
    const event = unread.shift()
    unreadBytes -= event?.length ?? 0
    return event
  }

  function sendMore(): void {
    do {
      const event = nextEvent()
      isWanted = event === undefined
      if (event === undefined) return
      isWanted = stream.push(`data: ${event}\n\n`)
    } while (isWanted)
  }

  function close(): void {
    feed.leave(reader)
    stream.push(null)
  }

  const reader = { onEvent, onEnd: close }
  const snapshot = feed.follow(nonce, reader)
  const stream = new Readable({
    read: sendMore,
    destroy: (error, done) => {
      feed.leave(reader)
      done(error)
    },
  })
  return { stream, close }
}
