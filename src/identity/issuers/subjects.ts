import { createAuditEntryFactory } from '#accounts/audit-log.ts'
import { type Page, type PageRequest, pageOf, parseListCursor } from '#accounts/pages.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { suggest } from '#platform/text.ts'
import type { Clock } from '#platform/time.ts'
import type { Actor } from '#store/audit-entry.ts'
import { type BlockedSubject, isPrincipalId, type SubjectStore } from '#store/subjects.ts'
import { type UsageBatch, type UsageStore, usagePrincipalsMax } from '#store/usage.ts'

/** A user of a foreign issuer. */
export interface Subject {
  /** The name of the issuer in the config. */
  readonly issuer: string
  /** The `sub` of its tokens. */
  readonly subject: string
}

/** Blocks users of foreign issuers, on behalf of an actor, who is named in the audit log. */
export interface BlockedSubjects {
  /**
   * Refuses all tokens of a user, on every route, until it is unblocked.
   * @returns whether this call has blocked it; false = it was blocked already
   * @throws GatehouseError `request-invalid` (fields `issuer`, `subject`)
   */
  block(subject: Subject): Promise<boolean>
  /**
   * Also for an issuer that is no longer in the config.
   * @returns false if it is not blocked
   */
  unblock(subject: Subject): Promise<boolean>
  /** Newest first. @throws GatehouseError `request-invalid` (field `cursor`) */
  page(page: PageRequest): Promise<Page<BlockedSubject>>
}

export type BlockedSubjectsOf = (by: Actor) => BlockedSubjects

interface BlockedSubjectsOptions {
  readonly store: SubjectStore
  /** The issuers in the config. */
  readonly issuers: readonly { readonly name: string }[]
  readonly clock: Clock
}

export function createBlockedSubjects({ store, issuers, clock }: BlockedSubjectsOptions): BlockedSubjectsOf {
  const names = issuers.map(({ name }) => name)

  async function page({ cursor, limit }: PageRequest): Promise<Page<BlockedSubject>> {
    const position = cursor === undefined ? undefined : parseListCursor(cursor)
    const after = position && { principalId: position.id, blockedAt: position.createdAt }
    const found = await store.listBlockedSubjects({ after, limit: limit + 1 })
    return pageOf(found, limit, ({ blockedAt, principalId: id }) => ({ createdAt: blockedAt, id }))
  }

  return (by) => {
    const entry = createAuditEntryFactory(by, clock)
    return {
      block: async (blocked) => {
        assertIssuer(blocked.issuer, names)
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

/** A blocked user as the admin API and the command line show it. */
export function blockedSubjectData({ principalId: id, blockedAt }: BlockedSubject) {
  return { ...partsOfPrincipalId(id), id, blockedAt: new Date(blockedAt).toISOString() }
}

function assertIssuer(issuer: string, known: readonly string[]): void {
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

/**
 * The ID of a principal of an issuer: `<name of the issuer>:<subject>`. Neither an account ID nor an issuer's name
 * contains a colon, so no two principals have the same ID. Anything but visible ASCII in the subject, and `%`, is
 * percent-encoded as UTF-8 (RFC 3986 2.1), so that the ID can be used in a header, a key or a line.
 */
export function principalId(issuer: string, subject: string): string {
  return `${issuer}:${subject.replaceAll(/[^!-$&-~]+/g, encodeURIComponent)}`
}

/** The name of the issuer and the subject of an ID. */
function partsOfPrincipalId(id: string): { readonly issuer: string; readonly subject: string } {
  const colon = id.indexOf(':')
  return { issuer: id.slice(0, colon), subject: decodeURIComponent(id.slice(colon + 1)) }
}

/**
 * Records usage, including that of principals of foreign issuers, whose number is unbounded: those that exceed the
 * store's limit are counted together, under the name of their issuer and a colon. No principal has that ID, as no
 * subject is empty.
 */
export function withPrincipals(
  store: Pick<UsageStore, 'addUsage' | 'admitUsagePrincipals'>,
): Pick<UsageStore, 'addUsage'> {
  /** The principals that the store has admitted on `day`. */
  let admitted = new Set<string>()
  let day = 0

  async function admit(ids: readonly string[], today: number): Promise<ReadonlySet<string>> {
    if (day !== today || admitted.size + ids.length > usagePrincipalsMax) admitted = new Set()
    day = today
    const asked = [...new Set([...ids.map(othersOf), ...ids])].filter((id) => !admitted.has(id))
    const refused = new Set(asked.length === 0 ? [] : await store.admitUsagePrincipals(asked, today))
    for (const id of asked) if (!refused.has(id)) admitted.add(id)
    return refused
  }

  async function addUsage(batch: UsageBatch): Promise<void> {
    const ids = batch.entries.map(({ accountId }) => accountId).filter(isPrincipalId)
    const refused = ids.length === 0 ? noIds : await admit(ids, batch.today)
    const entries = batch.entries.map((entry) =>
      refused.has(entry.accountId) ? { ...entry, accountId: othersOf(entry.accountId) } : entry,
    )
    return store.addUsage(refused.size === 0 ? batch : { ...batch, entries })
  }

  return { addUsage }
}

const noIds: ReadonlySet<string> = new Set()

/** The ID that stands for all other principals of the same issuer. */
function othersOf(id: string): string {
  return id.slice(0, id.indexOf(':') + 1)
}

/** A text that can be part of an ID. A lone surrogate has no encoding of its own, so two subjects would share an ID. */
export function isSubject(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= subjectLengthMax &&
    value.isWellFormed() &&
    !controlCharacters.test(value)
  )
}

/** In UTF-16 code units: OpenID Connect allows 255 characters (Core 1.0, 2). */
export const subjectLengthMax = 255

const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
