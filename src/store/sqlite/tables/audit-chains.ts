import type { AuditChainPage } from '../../audit.ts'
import {
  type AuditChain,
  type AuditClass,
  auditClasses,
  auditClassOf,
  auditLinkOf,
  auditRetention,
  type ChainedEntry,
} from '../../audit-chain.ts'
import { type AuditEntry, parseAuditEntry } from '../../audit-entry.ts'
import type { Database } from '../database.ts'

/** How many entries retention removes at most for each that is added: it catches up without delaying writes. */
const trimBatchMax = 20

/** Adds entries to their chains, and trims these. Every function is to be called within a read or a write. */
export function openAuditChainTable({ prepare }: Pick<Database, 'prepare'>) {
  const insert = prepare('INSERT INTO audit (entry, class, link) VALUES (?, ?, ?)')
  const selectChain = prepare('SELECT trimmed, last, entries FROM audit_chains WHERE class = ?')
  const saveChain = prepare(
    'INSERT OR REPLACE INTO audit_chains (class, trimmed, last, entries) VALUES (?, ?, ?, ?)',
  )
  const selectPage = prepare(
    'SELECT seq, entry, link FROM audit WHERE class = ? AND seq > ? ORDER BY seq LIMIT ?',
  )
  const remove = prepare('DELETE FROM audit WHERE seq = ?')

  function readChain(name: AuditClass): AuditChain & { readonly entries: number } {
    const row = selectChain.get(name)
    const { trimmed, last, entries } = row ?? { trimmed: '', last: '', entries: 0 }
    return {
      class: name,
      trimmed: String(trimmed),
      last: String(last),
      entries: Number(entries),
    }
  }

  function append(entry: AuditEntry): void {
    const chain = readChain(auditClassOf(entry))
    const text = JSON.stringify(entry)
    const link = auditLinkOf(chain.last, text, 'sha256')
    insert.run(text, chain.class, link)
    const { trimmed, removed } = trim(chain, chain.entries + 1, entry.at)
    saveChain.run(chain.class, trimmed, link, chain.entries + 1 - removed)
  }

  function trim(chain: AuditChain, entries: number, now: number) {
    let { trimmed } = chain
    let removed = 0
    for (const { seq, entry, link } of selectPage.all(chain.class, 0, trimBatchMax)) {
      const isOld = parseAuditEntry(String(entry)).at < now - auditRetention.ageMs
      if (!isOld && entries - removed <= auditRetention.entries) break
      remove.run(Number(seq))
      trimmed = String(link)
      removed++
    }
    return { trimmed, removed }
  }

  return {
    append,
    chains: (): readonly AuditChain[] => auditClasses.map(readChain).map(({ entries: _, ...chain }) => chain),
    page: ({ class: name, after, limit }: AuditChainPage): readonly ChainedEntry[] =>
      selectPage
        .all(name, Number(after ?? 0), limit)
        .map(({ seq, entry, link }) => ({ position: String(seq), text: String(entry), link: String(link) })),
  }
}
