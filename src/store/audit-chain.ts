import { hash } from 'node:crypto'
import type { AuditEntry } from './audit-entry.ts'

/**
 * The audit log is two chains, which are trimmed each for itself: whatever people do to their own accounts removes no
 * entry of what was done to others. Each entry has a link: a digest of the link before it and of its own content. A
 * link that is missing or wrong shows that entries were removed or changed. What retention has removed is accounted
 * for by the link of the last of it, and the end of a chain by its last link.
 */
export const auditClasses = ['acts', 'own'] as const

/**
 * `own`: what anybody can repeat, so that it must not push out anything else: people's acts on their own accounts, and
 * failed sign-ins; `acts`: all others.
 */
export type AuditClass = (typeof auditClasses)[number]

export interface AuditChain {
  readonly class: AuditClass
  /** How links are made in this store. */
  readonly algorithm: 'sha256' | 'sha1'
  /** Link of the last entry that retention has removed; '' = none was. */
  readonly trimmed: string
  /** Link of the last entry; '' = there is none. */
  readonly last: string
}

/** An entry as it is stored. */
export interface ChainedEntry {
  readonly position: string
  readonly text: string
  /** '' = it was written before there were links, to Redis, whose entries cannot be changed. */
  readonly link: string
}

/** What each class keeps: so many entries, and none that is older; the oldest go first. */
export const auditRetention = { entries: 250_000, ageMs: 400 * 86_400_000 } as const

export function auditClassOf({ action, actor, target }: AuditEntry): AuditClass {
  if (action === 'sign-in-failed') return 'own'
  return actor.kind === 'account' && actor.id === target?.id ? 'own' : 'acts'
}

/** SHA-256 of an entry's text, in hex. */
export function contentDigest(text: string): string {
  return hash('sha256', text, 'hex')
}

/**
 * @param algorithm of the link; a script of Redis can make no other than SHA-1. What it is made of are digests by
 *   SHA-256 and links, which nobody can choose, and of which none can be found for a given link.
 */
export function auditLinkOf(before: string, text: string, algorithm: AuditChain['algorithm']): string {
  return hash(algorithm, before + contentDigest(text), 'hex')
}
