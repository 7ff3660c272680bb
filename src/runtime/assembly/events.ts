import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { createAuditEntryFactory } from '#accounts/audit-log.ts'
import { openDeliveries } from '#accounts/events/deliveries.ts'
import {
  cloudEventMediaType,
  cloudEventText,
  signatureHeaders,
  webhookKeyOf,
} from '#accounts/events/event-message.ts'
import { createTypeFilter, isEventWanted } from '#accounts/events/event-types.ts'
import type { Receiver } from '#accounts/events/receiver.ts'
import { createReceiverActions, type ReceiverActions } from '#accounts/events/receiver-actions.ts'
import { createReminderReceiver, openReminders } from '#accounts/events/reminders.ts'
import type { Config } from '#config/config.ts'
import { openPoster } from '#http/outgoing/poster.ts'
import { createWorkFaultLogger } from '#ops/store-logs.ts'
import type { Clock } from '#platform/time.ts'
import type { Actor } from '#store/audit-entry.ts'
import { lazyMailer } from './account-services.ts'
import type { ConfigParts } from './store-parts.ts'

/** For the whole exchange: a receiver should answer before it does its work. */
const deliveryTimeoutMs = 10_000

type ReceiverConfig = Config['events'][number]

interface PostedReceiver extends Receiver {
  close(): void
}

function describeReceiver({ url, types }: ReceiverConfig): Omit<Receiver, 'deliver'> {
  const { origin, pathname } = new URL(url)
  return {
    id: hash('sha256', url, 'base64url').slice(0, 22),
    // Without the query, which may contain secrets.
    name: origin + pathname,
    wants: createTypeFilter(types),
  }
}

function openReceiver(config: ReceiverConfig, source: string, clock: Clock): PostedReceiver {
  const { url, secret, allowLocal } = config
  const key = webhookKeyOf(secret)
  const { post, close } = openPoster({
    url: new URL(url),
    timeoutMs: deliveryTimeoutMs,
    allowsLocal: allowLocal,
  })
  return {
    ...describeReceiver(config),
    deliver: (message) => {
      const body = cloudEventText(message, source)
      const headers = signatureHeaders(key, { id: message.id, body, now: clock() })
      return post(body, { ...headers, 'Content-Type': cloudEventMediaType, 'User-Agent': 'gatehouse' })
    },
    close,
  }
}

/** The receivers of events, for tests and reports: a connection lives for one event only. */
export function configuredReceivers({ events, publicOrigin }: Config, clock: Clock): readonly Receiver[] {
  return events.map((one) => ({
    ...describeReceiver(one),
    deliver: async (message) => {
      const { deliver, close } = openReceiver(one, publicOrigin, clock)
      await deliver(message).finally(close)
    },
  }))
}

/** What Admins in the portal, and operators, can do with the receivers. */
export function createReceiversFrom({
  config,
  store,
  clock,
}: Pick<ConfigParts, 'config' | 'store' | 'clock'>): (by: Actor) => ReceiverActions {
  const receivers = configuredReceivers(config, clock)
  return (by) => createReceiverActions({ store, receivers, entry: createAuditEntryFactory(by, clock) })
}

/** Sends events to receivers, and reminders to the owners of keys that are about to expire, by the current config. */
export function openEvents({
  store,
  clock,
  metrics,
  log,
}: Pick<ConfigParts, 'store' | 'clock' | 'metrics' | 'log'>) {
  let posted: readonly PostedReceiver[] = []
  let used: unknown
  const logFault = createWorkFaultLogger(log, 'events or reminders cannot be read or recorded')
  const deliveries = openDeliveries({
    store,
    clock,
    onResult: (result, messages, { name }) => {
      metrics.eventsDelivered.inc({ result }, messages)
      if (result === 'dropped')
        log.error(
          { receiver: name, events: messages },
          'events dropped: the receiver has not accepted them for three days',
        )
    },
    onStoreFailure: logFault,
  })
  metrics.collectPendingEvents(deliveries.pendingCount)
  const reminders = openReminders({ store, clock, onStoreFailure: logFault })

  /** Applies a config. Resolves once it is known with which event each receiver begins. */
  async function use(config: Config): Promise<void> {
    const { events, mail, publicOrigin, portal, keys } = config
    const next = { events, mail, publicOrigin, portal }
    const mailsReminders = mail?.notices === true && keys.remindMs.length > 0
    const isWanted = mailsReminders || isEventWanted(events, 'key-expiring')
    reminders.use(isWanted ? keys.remindMs : [])
    if (isDeepStrictEqual(next, used)) return
    used = next
    const before = posted
    posted = events.map((receiver) => openReceiver(receiver, publicOrigin, clock))
    const sendMail = mail?.notices === true ? lazyMailer(config) : undefined
    await deliveries.use([
      ...posted,
      ...(sendMail ? [createReminderReceiver({ store, sendMail, portalUrl: portal.url })] : []),
    ])
    for (const { close } of before) close()
  }

  return {
    use,
    close: async () => {
      reminders.close()
      const closing = deliveries.close()
      // A receiver that hangs must not hold up the shutdown: what it was sent is sent again.
      for (const { close } of posted) close()
      await closing
    },
  }
}
