import { createAuditEntryFactory } from '#accounts/audit-entry-factory.ts'
import { createListCursor, type Page, parseListCursor } from '#accounts/cursor.ts'
import type { Clock } from '#platform/clock.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { suggest } from '#platform/text.ts'
import type { Actor } from '#store/audit-entry.ts'
import type { BlockedSubject, SubjectStore } from '#store/subjects.ts'
import { isSubject, subjectLengthMax } from './foreign-claims.ts'
import { partsOfPrincipalId, principalId } from './principal-id.ts'

/** A user of a foreign issuer. */
export interface Subject {
  /** The name of the issuer in the config. */
  readonly issuer: string
  /** As its tokens have it. */
  readonly subject: string
}

/** Blocks users of foreign issuers, on behalf of one actor, who is named in the audit log. */
export interface BlockedSubjects {
  /**
   * Refuses all tokens of a user, on every route, until it is unblocked.
   * @returns whether it was blocked now; false = it was already
   * @throws GatehouseError `request-invalid` (fields `issuer`, `subject`)
   */
  block(subject: Subject): Promise<boolean>
  /** Also of an issuer that has left the config. @returns false where it is not blocked */
  unblock(subject: Subject): Promise<boolean>
  /** Newest first. @throws GatehouseError `request-invalid` (field `cursor`) */
  page(page: { readonly cursor: string | undefined; readonly limit: number }): Promise<Page<BlockedSubject>>
}

export type BlockedSubjectsOf = (by: Actor) => BlockedSubjects

export interface BlockedSubjectsOptions {
  readonly store: SubjectStore
  /** The names of those in the config. */
  readonly issuers: readonly string[]
  readonly clock: Clock
}

export function createBlockedSubjects({ store, issuers, clock }: BlockedSubjectsOptions): BlockedSubjectsOf {
  async function page({
    cursor,
    limit,
  }: Parameters<BlockedSubjects['page']>[0]): Promise<Page<BlockedSubject>> {
    const position = cursor === undefined ? undefined : parseListCursor(cursor)
    const after = position && { principalId: position.id, blockedAt: position.createdAt }
    const found = await store.listBlockedSubjects({ after, limit: limit + 1 })
    const items = found.slice(0, limit)
    const last = items.at(-1)
    const hasMore = found.length > limit && last !== undefined
    return {
      items,
      nextCursor: hasMore ? createListCursor({ createdAt: last.blockedAt, id: last.principalId }) : undefined,
    }
  }

  return (by) => {
    const entry = createAuditEntryFactory(by, clock)
    return {
      block: async (blocked) => {
        assertIssuer(blocked, issuers)
        assertSubject(blocked)
        const { issuer, subject } = blocked
        const id = principalId(issuer, subject)
        return store.blockSubject(
          { principalId: id, blockedAt: clock() },
          entry('subject-blocked', undefined, { issuer, subject }),
        )
      },
      unblock: async (blocked) => {
        assertSubject(blocked)
        const { issuer, subject } = blocked
        return store.unblockSubject(
          principalId(issuer, subject),
          entry('subject-unblocked', undefined, { issuer, subject }),
        )
      },
      page,
    }
  }
}

/** A blocked user as the admin API and the command show it. */
export function blockedSubjectData({ principalId: id, blockedAt }: BlockedSubject) {
  return { ...partsOfPrincipalId(id), id, blockedAt: new Date(blockedAt).toISOString() }
}

function assertIssuer({ issuer }: Subject, known: readonly string[]): void {
  if (known.includes(issuer)) return
  if (known.length === 0) throw invalidField('issuer', 'the config has no issuers')
  const meant = suggest(issuer, known)
  const hint = meant === undefined ? '' : `, did you mean "${meant}"?`
  throw invalidField('issuer', `must be the name of an issuer in the config: ${known.join(', ')}${hint}`)
}

function assertSubject({ subject }: Subject): void {
  if (isSubject(subject)) return
  throw invalidField(
    'subject',
    `must be 1 to ${subjectLengthMax} characters, without control characters, as in the tokens of the issuer`,
  )
}
