import type { EpochMs } from '#platform/time.ts'
import type { AuditEntry } from './audit-entry.ts'

/**
 * Principals of foreign issuers have no sessions here that could be ended, so they are blocked, by the ID that
 * identity/issuers/subjects.ts derives from the issuer's name and the subject. Principals that nobody has blocked are
 * not in the store.
 */
export interface SubjectStore {
  findBlockedSubject(principalId: string): Promise<BlockedSubject | undefined>
  /** @returns false if it was already blocked, in which case it keeps the earlier time */
  blockSubject(blocked: BlockedSubject, audit?: AuditEntry): Promise<boolean>
  /** @returns false if it was not blocked */
  unblockSubject(principalId: string, audit?: AuditEntry): Promise<boolean>
  /** Newest first, those of the same time by descending ID. @param page.after may no longer be blocked */
  listBlockedSubjects(page: BlockedSubjectsPage): Promise<readonly BlockedSubject[]>
}

export interface BlockedSubject {
  readonly principalId: string
  readonly blockedAt: EpochMs
}

interface BlockedSubjectsPage {
  /** The last one of the previous page; undefined = from the newest. */
  readonly after: BlockedSubject | undefined
  readonly limit: number
}

/** Whether an ID is that of an issuer's principal, as no account ID contains a colon. */
export function isPrincipalId(id: string): boolean {
  return id.includes(':')
}
