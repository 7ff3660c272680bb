import { isRecord, parseJsonObject } from '#platform/json.ts'
import { clocksApartMs, type EpochMs } from '#platform/time.ts'

/** One entry of the audit log: who did what to whom, when, and from where. Never a secret. */
export interface AuditEntry {
  readonly at: EpochMs
  readonly actor: Actor
  readonly action: AuditAction
  /** The account that was acted on; undefined = the action was not about an account. */
  readonly target: AuditTarget | undefined
  /** More about the action, such as `{ role: 'Admin' }` or `{ graceSeconds: 3600 }`; never a secret. */
  readonly details: Readonly<Record<string, string | number | boolean>>
}

export interface AccountActor {
  readonly kind: 'account'
  readonly channel: 'portal' | 'api'
  readonly id: string
  readonly email: string
  readonly address: string
}

/** Who acts, and by which means. */
export type Actor =
  /** An account: in the portal, or through the admin API. */
  | AccountActor
  /** Somebody who runs commands on the machine, by the name of the system user. */
  | { readonly kind: 'operator'; readonly channel: 'cli'; readonly name: string }
  /** The holder of a key, who has ended it. */
  | { readonly kind: 'holder'; readonly channel: 'api'; readonly address: string }
  /** The gateway itself: the first account of a demo. */
  | { readonly kind: 'system'; readonly channel: 'system' }

/** An account with the e-mail that it had at that time. */
export interface AuditTarget {
  readonly id: string
  readonly email: string
}

export const auditActions = [
  'account-created',
  'account-updated',
  'account-deleted',
  'secret-key-reset',
  'secret-key-overlap-ended',
  'secret-key-created',
  'secret-key-renamed',
  'secret-key-updated',
  'secret-key-revoked',
  'api-key-reset',
  'key-revealed',
  'setup-link-created',
  'password-reset-requested',
  'password-set',
  'password-changed',
  'second-factor-enabled',
  'second-factor-disabled',
  'second-factor-reset',
  'recovery-codes-renewed',
  'recovery-code-used',
  'passkey-added',
  'passkey-renamed',
  'passkey-removed',
  'signed-in',
  'sign-in-failed',
  'signed-out',
  'portal-session-ended',
  'portal-sessions-ended',
  'session-ended',
  'sessions-ended',
  'email-verification-sent',
  'email-verified',
  'identity-linked',
  'identity-unlinked',
  'sealing-key-added',
  'sealing-key-rotated',
  'sealing-key-dropped',
  'signing-key-added',
  'signing-key-retired',
  'subject-blocked',
  'subject-unblocked',
  'events-retried',
  'event-tested',
  'store-restored',
  'key-expiring',
  'quota-reached',
  'session-reused',
] as const

export type AuditAction = (typeof auditActions)[number]

export interface LoggedAuditEntry extends AuditEntry {
  /** Increases with each entry. Also the cursor of the page of earlier entries. */
  readonly position: string
}

/** Whether a text is an entry, as far as reading and trimming the log need it. */
export function isAuditEntry(text: string): boolean {
  const { at, action, actor, details } = parseJsonObject(text) ?? {}
  return Number.isSafeInteger(at) && typeof action === 'string' && isRecord(actor) && isRecord(details)
}

export function parseAuditEntry(text: string): AuditEntry {
  // The text was written by JSON.stringify from this type, which leaves out what is undefined.
  return { target: undefined, ...(JSON.parse(text) as Omit<AuditEntry, 'target'> & Partial<AuditEntry>) }
}

/** Which entries to show; an undefined member matches all. */
export interface AuditFilter {
  readonly action: AuditAction | undefined
  /** An ID, an e-mail or an operator's name, of the actor or the target; compared without case. */
  readonly who: string | undefined
  /** A part of one of these; compared without case. */
  readonly part?: string | undefined
  /** The earliest time. */
  readonly from?: EpochMs | undefined
  /** The time from which on no entry is shown. */
  readonly until?: EpochMs | undefined
}

export function matchesFilter({ at, action, actor, target }: AuditEntry, filter: AuditFilter): boolean {
  const { from = 0, until = Number.POSITIVE_INFINITY } = filter
  if (at < from || at >= until) return false
  if (filter.action !== undefined && action !== filter.action) return false
  const who = filter.who?.toLowerCase()
  const part = filter.part?.toLowerCase() ?? ''
  if (who === undefined && part === '') return true
  const names =
    actor.kind === 'account' ? [actor.id, actor.email] : actor.kind === 'operator' ? [actor.name] : []
  return [...names, target?.id ?? '', target?.email ?? ''].some((name) => {
    const lower = name.toLowerCase()
    return (who === undefined || lower === who) && lower.includes(part)
  })
}

// Instances write entries in one order, each by its own clock.

/** Whether nothing further back can match, as the entries are older than the filter wants. */
export function isPast(entries: readonly AuditEntry[], { from = 0 }: AuditFilter): boolean {
  return entries.some(({ at }) => at < from - clocksApartMs)
}

/** From when on no entry can match, whatever the clock of its instance. */
export function skippedFrom({ until }: AuditFilter): number | undefined {
  return until === undefined ? undefined : until + clocksApartMs
}

/**
 * Texts that every matching entry contains, so that the store returns few others: `exact` verbatim, `lower` once the
 * entry's ASCII letters are in lower case. '' = matches every entry.
 */
export function needlesOf({ action, who, part }: AuditFilter) {
  const lower = (who ?? part)?.toLowerCase() ?? ''
  const quoted = JSON.stringify(lower).slice(1, -1)
  return {
    exact: action === undefined ? '' : `"action":${JSON.stringify(action)}`,
    // The databases put only ASCII letters into lower case.
    lower: /^[\x20-\x7e]*$/.test(lower) ? quoted : '',
  }
}
