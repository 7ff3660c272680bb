import type { EpochMs } from '#platform/clock.ts'
import type { AuditEntry } from './audit-entry.ts'

/**
 * Blocked principals of foreign issuers, by the ID that identity/issuers/subjects.ts derives from the issuer's name and
 * the subject. Principals that nobody has blocked are not in the store.
 */
export interface SubjectStore {
  /** undefined = it is not blocked. */
  findBlockedSubject(principalId: string): Promise<BlockedSubject | undefined>
  /** @returns false if it was already blocked, in which case it keeps the earlier time */
  blockSubject(blocked: BlockedSubject, audit?: AuditEntry): Promise<boolean>
  /** @returns false if it was not blocked */
  unblockSubject(principalId: string, audit?: AuditEntry): Promise<boolean>
  /** Newest first, those of the same time by descending ID. @param list.after may no longer be blocked */
  listBlockedSubjects(list: BlockedSubjectList): Promise<readonly BlockedSubject[]>
}

export interface BlockedSubject {
  readonly principalId: string
  readonly blockedAt: EpochMs
}

interface BlockedSubjectList {
  /** The last one of the previous page; undefined = from the newest. */
  readonly after: BlockedSubject | undefined
  readonly limit: number
}

/** Whether an ID is that of an issuer's principal, as no account ID contains a colon. */
export function isPrincipalId(id: string): boolean {
  return id.includes(':')
}
