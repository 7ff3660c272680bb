import { type LoggedChange, parseChange } from '../changes.ts'
import { openClient, type RedisOptions } from './client.ts'

/** Receives changes as they are published: fast, and at most once. */
interface Subscription {
  /** Sets the position that the log was read to: a subscription that stays behind it is stalled, and reconnected. */
  check(head: number): void
  /** Whether it has been subscribed for a while, and has received what `check` expects. */
  isListening(): boolean
  close(): void
}

/** How often a stalled subscription is reconnected at most. */
const reopenIntervalMs = 1_000
/** How long a subscription must last to count, as one that is cut again and again may lose messages each time. */
const steadyAfterMs = 1_000

/**
 * Opens a connection of its own, as a subscribed one cannot send other commands.
 * @param onChange called with each change; its time is on the clock of Redis
 */
export function openSubscription(
  options: RedisOptions,
  channel: string,
  onChange: (change: LoggedChange) => void,
): Subscription {
  const { client, close } = openClient(options)
  let lastPosition: number | undefined
  let reopenedAt = 0
  let behindSince: number | undefined
  let subscribedAt = Number.POSITIVE_INFINITY

  client.on('ready', () => {
    client.subscribe(channel).then(onSubscribed, () => {})
  })
  client.on('close', () => {
    subscribedAt = Number.POSITIVE_INFINITY
  })
  client.on('message', (_channel: string, message: string) => {
    const logged = parseMessage(message)
    if (!logged) return
    lastPosition = Math.max(lastPosition ?? 0, logged.position)
    behindSince = undefined
    onChange(logged)
  })

  function onSubscribed(): void {
    if (client.status === 'ready') subscribedAt = performance.now()
  }

  function isListening(): boolean {
    return behindSince === undefined && performance.now() - subscribedAt >= steadyAfterMs
  }

  function check(head: number): void {
    if (lastPosition === undefined || head <= lastPosition) {
      lastPosition = head
      behindSince = undefined
      return
    }
    const now = performance.now()
    behindSince ??= now
    // A message may still be on its way; by the second check it should have arrived.
    if (behindSince === now || now - reopenedAt < reopenIntervalMs || client.status !== 'ready') return
    reopenedAt = now
    behindSince = undefined
    lastPosition = head
    client.disconnect(true)
  }

  return { check, isListening, close }
}

/** `position time kind subject`, as log-change.lua writes it. */
function parseMessage(message: string): LoggedChange | undefined {
  const [position, at, kind = '', subject = ''] = message.split(' ')
  const change = parseChange(kind, subject)
  return change && { change, position: Number(position), at: Number(at) }
}
