import {
  type AuditChain,
  type AuditClass,
  type AuditStore,
  auditClasses,
  type ChainedEntry,
} from '../../audit.ts'
import type { RecordOf } from '../../backup/records.ts'

type AuditReader = Pick<AuditStore, 'readAuditChain' | 'readAuditChains'>

const pageSize = 500
/** How often reading begins again because entries were trimmed meanwhile. */
const attemptsMax = 3

/** The audit log up to the ends of its chains, in its order, and then the chains. */
export async function* readAudit(
  store: AuditReader,
  ends: readonly AuditChain[],
): AsyncGenerator<readonly (RecordOf<'audit'> | RecordOf<'auditChain'>)[]> {
  const { chains, firstPages } = await readBeginning(store, ends)
  const [acts, own] = chains.map((chain, index) => entriesOf(store, chain, firstPages[index] ?? []))
  if (acts && own) yield* inOrder(acts, own)
  yield chains.map(({ class: name, trimmed, last }) => ({ kind: 'auditChain', class: name, trimmed, last }))
}

/** The first entries, and the links that precede them. */
async function readBeginning({ readAuditChain, readAuditChains }: AuditReader, ends: readonly AuditChain[]) {
  let chains = ends
  for (let attempt = 1; ; attempt++) {
    const firstPages = await Promise.all(
      auditClasses.map((name) => readAuditChain({ class: name, after: undefined, limit: pageSize })),
    )
    const now = await readAuditChains()
    const isSame = now.every(({ trimmed }, index) => trimmed === chains[index]?.trimmed)
    if (isSame || attempt === attemptsMax) return { chains, firstPages }
    chains = chains.map((chain, index) => ({ ...chain, trimmed: now[index]?.trimmed ?? '' }))
  }
}

async function* entriesOf(
  { readAuditChain }: AuditReader,
  { class: name, last }: AuditChain,
  firstPage: readonly ChainedEntry[],
): AsyncGenerator<Entry> {
  for (let page = firstPage; ; ) {
    for (const entry of page) {
      if (last === '' && entry.link !== '') return
      yield { ...entry, class: name }
      if (last !== '' && entry.link === last) return
    }
    if (page.length < pageSize) return
    page = await readAuditChain({ class: name, after: page.at(-1)?.position, limit: pageSize })
  }
}

interface Entry extends ChainedEntry {
  readonly class: AuditClass
}

/** Merges two lists that are in order. */
async function* inOrder(one: AsyncIterator<Entry>, other: AsyncIterator<Entry>) {
  let batch: RecordOf<'audit'>[] = []
  let [a, b] = [await one.next(), await other.next()]
  while (!a.done || !b.done) {
    const isFirst = !a.done && (b.done || isBefore(a.value, b.value))
    const { value } = isFirst ? a : b
    batch.push({ kind: 'audit', class: value.class, entry: value.text, link: value.link })
    if (isFirst) a = await one.next()
    else b = await other.next()
    if (batch.length < pageSize) continue
    yield batch
    batch = []
  }
  yield batch
}

/** Positions are `ms-n`. */
function isBefore(one: ChainedEntry, other: ChainedEntry): boolean {
  const [[ms = 0, n = 0] = [], [otherMs = 0, otherN = 0] = []] = [one, other].map(({ position }) =>
    position.split('-').map(Number),
  )
  return ms < otherMs || (ms === otherMs && n < otherN)
}
