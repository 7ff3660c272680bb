import type { Clock } from '../platform/clock.ts'
import type { Actor, AuditAction, AuditEntry, AuditSubject } from '../store/audit-entry.ts'

/** Creates the audit entries of one actor. */
export type AuditEntryFactory = (
  action: AuditAction,
  target: AuditSubject | undefined,
  details?: AuditEntry['details'],
) => AuditEntry

export function createAuditEntryFactory(actor: Actor, clock: Clock): AuditEntryFactory {
  return (action, target, details = {}) => ({
    at: clock(),
    actor,
    action,
    target: target && { id: target.id, email: target.email },
    details,
  })
}
