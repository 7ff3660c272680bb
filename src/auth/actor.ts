import type { Actor } from '../store/audit.ts'
import type { Visitor } from '../store/visitor.ts'
import type { Viewer } from './sign-in.ts'

/** Somebody who is signed in to the portal, as the audit log names them. */
export function actorOf({ account: { id, email } }: Viewer, { address }: Visitor): Actor {
  return { kind: 'account', channel: 'portal', id, email, address }
}
