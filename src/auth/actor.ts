import type { Actor, AuditSubject } from '../store/audit-entry.ts'
import type { Visitor } from '../store/visitor.ts'

/** An account that is signed in to the portal, as the audit log names it. */
export function actorOf(
  { account: { id, email } }: { readonly account: AuditSubject },
  { address }: Visitor,
): Actor {
  return { kind: 'account', channel: 'portal', id, email, address }
}
