import { type AuditAction, type AuditEntry, auditActions } from '#store/audit-entry.ts'
import { passwordFailuresMax } from '#store/portal-access.ts'

/** Event types with names of their own. Every entry of the audit log is also an event `audit.` and its action. */
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

/** The types of the events that an entry causes: `audit.` with its action and, for some, one with its own name. */
export function eventTypesOf(entry: AuditEntry): readonly EventType[] {
  const named = namedTypeOf(entry)
  const entryType = `audit.${entry.action}` as const
  return named ? [named, entryType] : [entryType]
}

function namedTypeOf({ action, actor, details }: AuditEntry): EventType | undefined {
  // Whoever ends a key without signing in has found it somewhere.
  if (actor.kind === 'holder') return 'key.leaked'
  if (action === 'account-updated' && details.isDisabled === true) return 'account.disabled'
  if (action === 'sign-in-failed') return isLocked(details) ? 'sign-in.locked' : undefined
  return typeOfAction[action]
}

/** Whether this is the failure after which unknown browsers may no longer try. */
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

/** Whether any receiver gets the events of an action. If not, nobody has to look for expiring keys and the like. */
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
