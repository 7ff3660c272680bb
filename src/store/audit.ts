/** What the audit log tells: who did what to whom, when, and from where. Never a secret. */
export interface AuditEntry {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly actor: Actor
  readonly action: AuditAction
  /** Whom it was done to; undefined where it was no account. */
  readonly target: AuditSubject | undefined
  /** More about it, such as `{ role: 'Admin' }` or `{ graceSeconds: 3600 }`; never a secret. */
  readonly details: Readonly<Record<string, string | number | boolean>>
}

/** Who acts, and through what. */
export type Actor =
  /** Somebody with an account: in the portal, or through the admin API. */
  | {
      readonly kind: 'account'
      readonly channel: 'portal' | 'api'
      readonly id: string
      readonly email: string
      readonly address: string
    }
  /** Whoever may run commands on the machine, by the name of the system user. */
  | { readonly kind: 'operator'; readonly channel: 'cli'; readonly name: string }
  /** The gateway itself: the first account of a demo. */
  | { readonly kind: 'system'; readonly channel: 'system' }

/** An account as it was called then: it may have another e-mail now, or be gone. */
export interface AuditSubject {
  readonly id: string
  readonly email: string
}

export const auditActions = [
  'account-created',
  'account-updated',
  'account-deleted',
  'secret-key-reset',
  'secret-key-overlap-ended',
  'api-key-reset',
  'key-revealed',
  'setup-link-created',
  'password-set',
  'password-changed',
  'signed-in',
  'signed-out',
  'portal-session-ended',
  'portal-sessions-ended',
  'session-ended',
  'sessions-ended',
  'email-verification-sent',
  'email-verified',
  'signing-key-added',
  'signing-key-retired',
] as const

export type AuditAction = (typeof auditActions)[number]

/** An entry where it stands in the log. */
export interface LoggedAuditEntry extends AuditEntry {
  /** Later entries have later positions; the cursor of what was before it. */
  readonly position: string
}

/** How many entries are kept; then the oldest go. */
export const auditEntriesKept = 250_000

export function parseAuditEntry(text: string): AuditEntry {
  // Written by JSON.stringify of what has this type; what is undefined is not there.
  return { target: undefined, ...(JSON.parse(text) as Omit<AuditEntry, 'target'> & Partial<AuditEntry>) }
}

/** Of which entries; what is undefined does not matter. */
export interface AuditFilter {
  readonly action: AuditAction | undefined
  /** An ID, an e-mail or the name of an operator, of whoever acted or was acted upon; compared without case. */
  readonly who: string | undefined
}

export function passesFilter({ action, actor, target }: AuditEntry, filter: AuditFilter): boolean {
  if (filter.action !== undefined && action !== filter.action) return false
  if (filter.who === undefined) return true
  const who = filter.who.toLowerCase()
  const names =
    actor.kind === 'account' ? [actor.id, actor.email] : actor.kind === 'operator' ? [actor.name] : []
  return [...names, target?.id ?? '', target?.email ?? ''].some((name) => name.toLowerCase() === who)
}

/**
 * What stands in the text of every entry that passes, so that the store reads out few others: exactly, and in
 * lower case once the ASCII letters of the text are. '' = in every text.
 */
export function needlesOf({ action, who }: AuditFilter) {
  const lower = who?.toLowerCase() ?? ''
  const quoted = JSON.stringify(lower).slice(1, -1)
  return {
    exact: action === undefined ? '' : `"action":${JSON.stringify(action)}`,
    // A database knows no other letters.
    lower: /^[\x20-\x7e]*$/.test(lower) ? quoted : '',
  }
}
