import { createHmac, hash } from 'node:crypto'
import type { EpochMs } from '#platform/time.ts'
import type { PositionedEntry } from '#store/audit.ts'
import type { AuditEntry } from '#store/audit-entry.ts'
import { auditData } from '../audit-log.ts'
import type { EventType } from './event-types.ts'

/** One event, for one or several receivers. */
export interface EventMessage {
  /** The same in every attempt to send it. */
  readonly id: string
  readonly type: EventType | 'gatehouse.test'
  readonly entry: Omit<AuditEntry, 'action'> & { readonly action: AuditEntry['action'] | 'test' }
}

export function eventMessage(
  { position, text }: PositionedEntry,
  type: EventType,
  entry: AuditEntry,
): EventMessage {
  return { id: `evt_${hash('sha256', `${position} ${type} ${text}`, 'base64url').slice(0, 24)}`, type, entry }
}

export const cloudEventMediaType = 'application/cloudevents+json'

/**
 * An event in the JSON format of CloudEvents 1.0.2.
 * @param source the origin of the gateway
 */
export function cloudEventText({ id, type, entry }: EventMessage, source: string): string {
  const { at, action, target, targetId, details, ...actor } = auditData(entry)
  return JSON.stringify({
    specversion: '1.0',
    id,
    source,
    type,
    time: at,
    ...(targetId !== null && { subject: targetId }),
    datacontenttype: 'application/json',
    data: {
      action,
      account: targetId === null ? null : { id: targetId, email: target },
      actor: { channel: actor.channel, name: actor.actor, id: actor.actorId, address: actor.address },
      details,
    },
  })
}

/** A secret that begins with this has its key in base64 after it (Standard Webhooks). */
const secretPrefix = 'whsec_'

/** How many bytes the key in a secret must have (Standard Webhooks). */
export const webhookSecretBytes = { min: 24, max: 64 } as const

/** The key in a secret such as `whsec_MfKQ9r8…`; any other text is itself the key. */
export function webhookKeyOf(secret: string): Buffer {
  return secret.startsWith(secretPrefix)
    ? Buffer.from(secret.slice(secretPrefix.length), 'base64')
    : Buffer.from(secret)
}

/** The header fields that tell a receiver who sent a body, and when (Standard Webhooks 1.0). */
export function signatureHeaders(
  key: Uint8Array,
  { id, body, now }: { readonly id: string; readonly body: string; readonly now: EpochMs },
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1_000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
