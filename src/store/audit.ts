import { hash } from 'node:crypto'
import { dayMs, type EpochMs } from '#platform/time.ts'
import type { AuditAction, AuditEntry, AuditFilter, LoggedAuditEntry } from './audit-entry.ts'

/** The audit log, in two chains (see `auditClasses`). Most entries are written by the verb that they are about. */
export interface AuditStore {
  /** Adds an entry, for actions that change no record. */
  appendAudit(entry: AuditEntry): Promise<void>
  /**
   * Entries that match a filter, newest first, starting before a position. Scans some thousands at once, so it may find
   * none although there are more.
   */
  findAudit(page: AuditPage): Promise<FoundAudit>
  /** The ends of the chains. */
  readAuditChains(): Promise<readonly AuditChain[]>
  /** Entries of one chain, oldest first. */
  readAuditChain(page: AuditChainPage): Promise<readonly ChainedEntry[]>
  /** Calls the listener with each entry that was written through this port, once it is safe. */
  onAudit(listener: (entry: AuditEntry) => void): void
}

export interface AuditPage {
  readonly filter: AuditFilter
  /** The page begins with the entry before this position; undefined = with the newest. */
  readonly before: string | undefined
  readonly limit: number
}

export interface FoundAudit {
  readonly entries: readonly LoggedAuditEntry[]
  /** `before` of the next page; undefined = this is the last. */
  readonly before: string | undefined
}

interface AuditChainPage {
  readonly class: AuditClass
  /** The page begins after this position; undefined = with the oldest. */
  readonly after: string | undefined
  readonly limit: number
}

/**
 * The audit log consists of two chains, which are trimmed separately: actions on one's own account never evict entries
 * about others. Each entry has a link: a digest of the previous link and its own content. A link that is missing or
 * wrong shows that entries were removed or changed. For each chain two links are kept: that of the last entry that
 * retention has removed, which shows where the chain begins now, and that of its last entry, which shows where it ends.
 */
export const auditClasses = ['acts', 'own'] as const

/**
 * `own`: actions that anybody can repeat, so that they must not evict anything else: users' actions on their own
 * accounts, failed sign-ins, forgotten passwords, keys that are ended by their holders, quotas that are used up, and
 * refresh tokens that are reused; `acts`: all others.
 */
export type AuditClass = (typeof auditClasses)[number]

export interface AuditChain {
  readonly class: AuditClass
  /** Link of the last entry that retention has removed; '' = none was. */
  readonly trimmed: string
  /** Link of the last entry; '' = there is none. */
  readonly last: string
}

export interface ChainedEntry {
  readonly position: string
  readonly text: string
  /** '' = it was written before there were links, to Redis, whose entries cannot be changed. */
  readonly link: string
}

/** What each class keeps: this many entries, and none that is older; the oldest are removed first. */
export const auditRetention = { entries: 250_000, ageMs: 400 * dayMs } as const

const repeatable: ReadonlySet<AuditAction> = new Set([
  'sign-in-failed',
  'password-reset-requested',
  'quota-reached',
  'session-reused',
])

export function auditClassOf({ action, actor, target }: AuditEntry): AuditClass {
  if (repeatable.has(action) || actor.kind === 'holder') return 'own'
  return actor.kind === 'account' && actor.id === target?.id ? 'own' : 'acts'
}

/** SHA-256 of an entry's text, in hex. */
export function contentDigest(text: string): string {
  return hash('sha256', text, 'hex')
}

/**
 * @param algorithm of the link: a Redis script can only compute SHA-1. That is enough, as its input consists of SHA-256
 * digests and earlier links, which nobody can choose, and as nobody can find another input for a given link.
 */
export function auditLinkOf(before: string, text: string, algorithm: 'sha256' | 'sha1'): string {
  return hash(algorithm, before + contentDigest(text), 'hex')
}

/**
 * Whether an entry follows from the previous link. The length of a link tells its algorithm, as entries that were
 * restored from a backup keep the links of the store that wrote them.
 */
export function isNextLink(link: string, before: string, text: string): boolean {
  return link === auditLinkOf(before, text, link.length === sha1Length ? 'sha1' : 'sha256')
}

/** In hex. */
const sha1Length = 40

/**
 * Which events their receivers have got. The events themselves are the entries of the audit log: as a verb writes its
 * entry in one step with its change, no event can be lost.
 */
export interface EventStore {
  /** The state that is kept of each receiver, by its ID. */
  readReceivers(): Promise<ReadonlyMap<string, string>>
  /**
   * Replaces the state of a receiver, unless somebody else has replaced it. A crash of the machine, or a failover, may
   * lose the last second.
   * @returns false where it is not `before` any more
   */
  replaceReceiver(replacement: ReceiverReplacement): Promise<boolean>
  /** Entries of both chains of the audit log, oldest first. */
  readAuditAfter(page: {
    /** The page begins after this position; '' = with the oldest. */
    readonly after: string
    readonly limit: number
  }): Promise<readonly PositionedEntry[]>
  /** Adds an entry to the audit log, unless one was added under the same ID before. @returns whether it was added */
  appendAuditOnce(once: {
    readonly id: string
    /** Until when the ID is kept at least. */
    readonly keptUntil: EpochMs
    readonly entry: AuditEntry
  }): Promise<boolean>
}

interface ReceiverReplacement {
  readonly id: string
  /** '' = nothing is kept. */
  readonly before: string
  /** '' = nothing is kept any more. */
  readonly after: string
}

/** Later entries have greater positions; also those of the other chain. */
export type PositionedEntry = Pick<ChainedEntry, 'position' | 'text'>
