import { createHmac, hash } from 'node:crypto'
import type { EpochMs } from '#platform/time.ts'
import type { PositionedEntry } from '#store/audit.ts'
import { type AuditAction, type AuditEntry, auditActions } from '#store/audit-entry.ts'
import { passwordFailuresMax } from '#store/portal-access.ts'
import { auditData } from '../audit-log.ts'

/** Event types with names of their own; every other entry of the audit log is `audit.` and its action. */
export const eventTypes = [
  'key.created',
  'key.rotated',
  'key.revoked',
  'key.leaked',
  'key.expiring',
  'account.created',
  'account.updated',
  'account.disabled',
  'account.deleted',
  'session.reused',
  'quota.reached',
  'sign-in.locked',
] as const

export type EventType = (typeof eventTypes)[number] | `audit.${AuditAction}`

export const allEventTypes: readonly EventType[] = [
  ...eventTypes,
  ...auditActions.map((action) => `audit.${action}` as const),
]

const typeOfAction: Readonly<Partial<Record<AuditAction, EventType>>> = {
  'secret-key-created': 'key.created',
  'secret-key-reset': 'key.rotated',
  'api-key-reset': 'key.rotated',
  'secret-key-revoked': 'key.revoked',
  'secret-key-overlap-ended': 'key.revoked',
  'key-expiring': 'key.expiring',
  'account-created': 'account.created',
  'account-updated': 'account.updated',
  'account-deleted': 'account.deleted',
  'session-reused': 'session.reused',
  'quota-reached': 'quota.reached',
}

/** The events that an entry is: at most one with a name of its own, and the entry as such. */
export function eventTypesOf(entry: AuditEntry): readonly EventType[] {
  const named = namedTypeOf(entry)
  const entryType = `audit.${entry.action}` as const
  return named ? [named, entryType] : [entryType]
}

function namedTypeOf({ action, actor, details }: AuditEntry): EventType | undefined {
  // Somebody who ends a key without an account has found it somewhere.
  if (actor.kind === 'holder') return 'key.leaked'
  if (action === 'account-updated' && details.isDisabled === true) return 'account.disabled'
  if (action === 'sign-in-failed') return isLocked(details) ? 'sign-in.locked' : undefined
  return typeOfAction[action]
}

/** From this failure on no unknown browser may try. */
function isLocked({ inARow, isKnownClient }: AuditEntry['details']): boolean {
  return inARow === passwordFailuresMax.byStrangers && isKnownClient === false
}

/** Whether a pattern matches any type at all: a type, `*`, or one such as `key.*`. */
export function isTypePattern(pattern: string): boolean {
  return allEventTypes.some(createTypeFilter([pattern]))
}

export function createTypeFilter(patterns: readonly string[]): (type: EventType) => boolean {
  const prefixes = patterns.flatMap((pattern) => (pattern.endsWith('*') ? [pattern.slice(0, -1)] : []))
  const wanted = new Set(
    allEventTypes.filter(
      (type) => patterns.includes(type) || prefixes.some((prefix) => type.startsWith(prefix)),
    ),
  )
  return (type) => wanted.has(type)
}

/** Whether any receiver gets the events of an action. If not, expiring keys and the like are not looked for. */
export function isEventWanted(
  receivers: readonly { readonly types: readonly string[] }[],
  action: 'key-expiring' | 'quota-reached',
): boolean {
  const own = typeOfAction[action]
  return receivers.some(({ types }) => {
    const wants = createTypeFilter(types)
    return wants(`audit.${action}`) || (own !== undefined && wants(own))
  })
}

/** One event, for one or several receivers. */
export interface EventMessage {
  /** The same each time that it is sent. */
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

/** How the text of a secret may begin that has its key in base64 after that (Standard Webhooks). */
const secretPrefix = 'whsec_'

/** The least that a secret must have, and the most (Standard Webhooks). */
export const secretBytes = { min: 24, max: 64 } as const

/** The key in a secret, such as `whsec_MfKQ9r8…`; any other text is the key itself. */
export function signingKeyOf(secret: string): Buffer {
  return secret.startsWith(secretPrefix)
    ? Buffer.from(secret.slice(secretPrefix.length), 'base64')
    : Buffer.from(secret)
}

/**
 * The header fields by which a receiver knows who has sent a body, and when (Standard Webhooks 1.0).
 */
export function signatureHeaders(
  key: Uint8Array,
  { id, body, now }: { readonly id: string; readonly body: string; readonly now: EpochMs },
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1_000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
