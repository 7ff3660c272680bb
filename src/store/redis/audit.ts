import {
  type AuditChain,
  type AuditClass,
  type AuditStore,
  auditClasses,
  type ChainedEntry,
  type EventStore,
} from '../audit.ts'
import {
  isPast,
  type LoggedAuditEntry,
  matchesFilter,
  needlesOf,
  parseAuditEntry,
  skippedFrom,
} from '../audit-entry.ts'
import type { RecordOf } from '../backup/records.ts'
import type { Connection } from './open-connection.ts'
import { loadScript, type ScriptCall } from './scripts.ts'

/** Excludes 0-0, which nothing precedes and Redis rejects as the end of an interval. */
const positionPattern = /^(?!0+-0+$)\d{1,15}-\d{1,15}$/

/** How many entries are scanned for one reply: this blocks Redis for some milliseconds. */
const scannedMax = 1_000

const readScript = loadScript('read-audit')
const appendScript = loadScript('append-audit', { isAudited: true })
const onceScript = loadScript('append-audit-once', { isAudited: true })
const replaceScript = loadScript('replace-receiver')

/**
 * The audit log as two streams, whose entries cannot be changed. The IDs of what is told once are keys that expire;
 * receivers of events are fields of one hash.
 */
export function createAuditStore(connection: Connection): AuditStore & EventStore {
  const { keys, ask, run, runAudited, confirmAbsence, onAudit } = connection

  /** @returns from where to scan on ('' = that was all), and the entries found */
  async function scan(...args: ScriptCall[1]): Promise<[string, [string, string[]][]]> {
    // The cast is sound: the script returns nothing else.
    return (await run(readScript, [keys.audit, keys.ownAudit], args)) as [string, [string, string[]][]]
  }

  return {
    appendAudit: async (entry) => {
      await confirmAbsence()
      await runAudited(appendScript, [], [], entry)
    },
    findAudit: async ({ filter, before, limit }) => {
      if (before !== undefined && !positionPattern.test(before)) return { entries: [], before: undefined }
      // The IDs of entries begin with the time of Redis.
      const start = before === undefined ? String(skippedFrom(filter) ?? '+') : `(${before}`
      const { exact, lower } = needlesOf(filter)
      const [next, found] = await scan('newest', start, scannedMax, limit, exact, lower)
      if (next === '' && found.length === 0) await confirmAbsence()
      const logged = found.map(toLogged)
      const entries = logged.filter((entry) => matchesFilter(entry, filter))
      return { entries, before: next === '' || isPast(logged, filter) ? undefined : next }
    },
    onAudit,
    readAuditChains: async () => {
      const fields = await ask((client) => client.hgetall(keys.auditChains))
      if (Object.keys(fields).length === 0) await confirmAbsence()
      return auditClasses.map((name) => {
        const [trimmed = '', last = ''] = [fields[`${name}:trimmed`], fields[`${name}:last`]]
        return { class: name, trimmed, last }
      })
    },
    readAuditChain: async ({ class: name, after, limit }) => {
      const stream = name === 'own' ? keys.ownAudit : keys.audit
      const start = after === undefined ? '-' : `(${after}`
      const entries = await ask((client) => client.xrange(stream, start, '+', 'COUNT', limit))
      if (entries.length === 0) await confirmAbsence()
      return entries.map(([position, [, text = '', , link = '']]) => ({ position, text, link }))
    },
    readReceivers: async () => {
      const fields = await ask((client) => client.hgetall(keys.eventReceivers))
      if (Object.keys(fields).length === 0) await confirmAbsence()
      return new Map(Object.entries(fields))
    },
    replaceReceiver: async ({ id, before, after }) => {
      if (before === '') await confirmAbsence()
      return (await run(replaceScript, [keys.eventReceivers], [id, before, after])) === 1
    },
    readAuditAfter: async ({ after, limit }) => {
      const start = after === '' ? '-' : `(${after}`
      const [, found] = await scan('oldest', start, limit, limit, '', '')
      if (found.length === 0) await confirmAbsence()
      return found.map(([position, [, text = '']]) => ({ position, text }))
    },
    appendAuditOnce: async ({ id, keptUntil, entry }) => {
      await confirmAbsence()
      return (await runAudited(onceScript, [keys.auditOnce(id)], [keptUntil], entry)) === 1
    },
  }
}

/** A stream entry: its ID, and its only field. */
function toLogged([position, fields]: [string, string[]]): LoggedAuditEntry {
  return { ...parseAuditEntry(fields[1] ?? '{}'), position }
}

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
