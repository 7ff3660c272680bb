import { setImmediate } from 'node:timers/promises'
import { type AuditChain, type AuditStore, type ChainedEntry, isNextLink } from '#store/audit.ts'

type AuditVerification =
  | {
      readonly kind: 'intact'
      readonly entries: number
      /** How many of them were written before entries were chained, and cannot be verified. */
      readonly unchained: number
    }
  /** `position` is that of the first entry that does not follow from the one before, or of the last entry. */
  | { readonly kind: 'broken'; readonly position: string | undefined; readonly problem: string }

/** How many entries are read at once. */
const readBatchSize = 500
/** How many times a chain is checked at most: the check starts again if entries were trimmed meanwhile. */
const attemptsMax = 3

type AuditChainReader = Pick<AuditStore, 'readAuditChains' | 'readAuditChain'>

/** Checks that no entry of the audit log was changed or removed, except by retention. Reads it in slices. */
export async function verifyAudit(store: AuditChainReader): Promise<AuditVerification> {
  let entries = 0
  let unchained = 0
  for (const chain of await store.readAuditChains()) {
    const result = await verifyChain(store, chain)
    if (result.kind === 'broken') return result
    entries += result.entries
    unchained += result.unchained
  }
  return { kind: 'intact', entries, unchained }
}

async function verifyChain(store: AuditChainReader, first: AuditChain): Promise<AuditVerification> {
  let chain = first
  for (let attempt = 1; ; attempt++) {
    const result = await verifyEntries(store, chain)
    const now = (await store.readAuditChains()).find((one) => one.class === chain.class)
    if (result.kind === 'intact' || !now || now.trimmed === chain.trimmed || attempt === attemptsMax) {
      return result
    }
    chain = now
  }
}

async function verifyEntries(store: AuditChainReader, chain: AuditChain): Promise<AuditVerification> {
  let link = chain.trimmed
  let entries = 0
  let unchained = 0
  let last: ChainedEntry | undefined
  for (;;) {
    const slice = await store.readAuditChain({
      class: chain.class,
      after: last?.position,
      limit: readBatchSize,
    })
    for (const entry of slice) {
      if (entry.link === '' && entries === unchained) unchained++
      else {
        const problem = 'this entry, or one before it, was changed, added or removed'
        if (!isNextLink(entry.link, link, entry.text)) {
          return { kind: 'broken', position: entry.position, problem }
        }
        link = entry.link
      }
      entries++
      last = entry
      // Entries added since the check began are not verified.
      if (link === chain.last && link !== '') return { kind: 'intact', entries, unchained }
    }
    if (slice.length < readBatchSize) break
    await setImmediate()
  }
  if (link === chain.last) return { kind: 'intact', entries, unchained }
  return { kind: 'broken', position: last?.position, problem: 'entries after this one were removed' }
}
