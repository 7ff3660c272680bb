import type { Clock } from '#platform/time.ts'
import type { Actor, AuditAction, AuditEntry, AuditSubject } from '#store/audit-entry.ts'
import type { Visitor } from '#store/sessions.ts'

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

/** An account that is signed in to the portal, as the audit log names it. */
export function actorOf(
  { account: { id, email } }: { readonly account: AuditSubject },
  { address }: Visitor,
): Actor {
  return { kind: 'account', channel: 'portal', id, email, address }
}

/** The audit entry of what a visitor does to their own account. */
export function ownAuditEntry(
  {
    account,
    action,
    details = {},
  }: {
    readonly account: AuditSubject
    readonly action: AuditAction
    readonly details?: AuditEntry['details']
  },
  visitor: Visitor,
  clock: Clock,
): AuditEntry {
  return createAuditEntryFactory(actorOf({ account }, visitor), clock)(action, account, details)
}
