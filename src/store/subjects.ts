import type { AuditEntry } from './audit-entry.ts'

/**
 * Principals of foreign issuers that are refused. They are known by the ID that identity/issuers/subjects.ts makes of the
 * name of the issuer and the subject: one that nobody has blocked is not in the store.
 */
export interface SubjectStore {
  /** undefined = it is not blocked. */
  findBlockedSubject(principalId: string): Promise<BlockedSubject | undefined>
  /** @returns false where it was blocked already; then it keeps the earlier time */
  blockSubject(blocked: BlockedSubject, audit?: AuditEntry): Promise<boolean>
  /** @returns false where it was not blocked */
  unblockSubject(principalId: string, audit?: AuditEntry): Promise<boolean>
  /** Newest first, of the same time by their IDs backwards. @param list.after may not be blocked any more */
  listBlockedSubjects(list: BlockedSubjectList): Promise<readonly BlockedSubject[]>
}

export interface BlockedSubject {
  readonly principalId: string
  /** Milliseconds since 1970. */
  readonly blockedAt: number
}

export interface BlockedSubjectList {
  /** The one before; undefined = from the newest. */
  readonly after: BlockedSubject | undefined
  readonly limit: number
}

/** Whether an ID is that of a principal of an issuer: no account has one with a colon. */
export function isPrincipalId(id: string): boolean {
  return id.includes(':')
}
